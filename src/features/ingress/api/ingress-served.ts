/**
 * Nodes' reports about serving Ingresses: one condition on each Node for all objects, since its web server
 * has one configuration for all. Pure.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Condition } from '../../../apimachinery/schema.ts';

export const ingressServedType = 'IngressServed';

export interface IngressServed {
  readonly reason: string;
  readonly message: string;
}

/** Returns the condition without times; null (no condition) when there is nothing to serve. */
export function ingressServedCondition({ reason, message }: IngressServed): Condition | null {
  if (reason === 'NothingToServe') return null;
  return { type: ingressServedType, status: reason === 'Serving' ? 'True' : 'False', reason, message };
}

const isTrue = ({ status }: Node, type: string) =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/**
 * Returns the addresses at which Ingresses are served: those of the ready nodes that serve them, external
 * ones if a node has some; sorted.
 */
export function servedAddresses(nodes: readonly Node[]): readonly string[] {
  const serving = nodes.filter((node) => isTrue(node, 'Ready') && isTrue(node, ingressServedType));
  const addresses = serving.flatMap(({ status }) => {
    const all = status?.addresses ?? [];
    const external = all.filter(({ type }) => type === 'ExternalIP');
    const used = external.length > 0 ? external : all.filter(({ type }) => type === 'InternalIP');
    return used.map(({ address }) => address);
  });
  return [...new Set(addresses)].sort();
}
