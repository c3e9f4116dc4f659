/**
 * Nodes' reports about serving Ingresses: one condition on each Node for all objects, since its web server
 * has one configuration for all. Pure.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { Problem } from './problem.ts';

export const ingressServedType = 'IngressServed';

export interface IngressServed {
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the condition of this type without times; null (no condition) when there is nothing to serve. Other
 * objects that the web server serves have conditions of the same form.
 */
export function servedCondition(type: string, { reason, message }: IngressServed): Condition | null {
  if (reason === 'NothingToServe') return null;
  return { type, status: reason === 'Serving' ? 'True' : 'False', reason, message };
}

const isTrue = ({ status }: Node, type: string) =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/**
 * Returns the addresses at which Ingresses are served: those of the ready nodes with a condition of this
 * type, external ones if a node has some; sorted.
 */
export function servedAddresses(nodes: readonly Node[], type = ingressServedType): readonly string[] {
  const serving = nodes.filter((node) => isTrue(node, 'Ready') && isTrue(node, type));
  const addresses = serving.flatMap(({ status }) => {
    const all = status?.addresses ?? [];
    const external = all.filter(({ type }) => type === 'ExternalIP');
    const used = external.length > 0 ? external : all.filter(({ type }) => type === 'InternalIP');
    return used.map(({ address }) => address);
  });
  return [...new Set(addresses)].sort();
}

/**
 * Returns why no node serves Ingresses, with the report of the first node by name; undefined if a node serves
 * them, or if no node has reported that it does not.
 */
export function notServedProblem(
  nodes: readonly Node[],
  { type, objects } = { type: ingressServedType, objects: 'Ingresses' },
): Problem | undefined {
  if (nodes.some((node) => isTrue(node, 'Ready') && isTrue(node, type))) return undefined;
  const reports = nodes.flatMap(({ metadata: { name }, status }) => {
    const condition = status?.conditions?.find((one) => one.type === type);
    return condition?.status === 'False' ? [`node ${name}: ${condition.message ?? ''}`] : [];
  });
  const [first] = reports.sort();
  return first === undefined
    ? undefined
    : { reason: 'NotServed', message: `no node serves ${objects}; ${first}` };
}
