/**
 * How nodes tell whether they serve Dns objects: each by one condition of its own Node, for all objects, since its web
 * server has one configuration for all. Written by the node's agent, read by the controller of Dns objects. Pure.
 */
import type { Condition } from '../../../apimachinery/schema.ts';
import type { Node } from '../../core/v1/node.ts';

export const dnsServedType = 'DnsServed';

export type DnsServedReason =
  /** True: its web server answers by the newest objects it has read. */
  | 'Serving'
  /** There is no object yet that it knows of: then its Node has no such condition. */
  | 'NothingToServe'
  | 'PortTaken'
  | 'WebServerNotStarted'
  | 'ConfigurationRefused'
  | 'RoutingFailed';

export interface DnsServed {
  readonly reason: DnsServedReason;
  readonly message: string;
}

/** Without times; null, which is none, where there is nothing to serve. */
export function dnsServedCondition({ reason, message }: DnsServed): Condition | null {
  if (reason === 'NothingToServe') return null;
  return { type: dnsServedType, status: reason === 'Serving' ? 'True' : 'False', reason, message };
}

export type NotServedReason =
  | Exclude<DnsServedReason, 'Serving' | 'NothingToServe'>
  | 'NotServedYet'
  | 'NoNodes';

/** Why not every node serves Dns objects; undefined when all that are ready do. */
export function notServed(
  nodes: readonly Node[],
): { readonly reason: NotServedReason; readonly message: string } | undefined {
  const ready = nodes.filter((node) => conditionOf(node, 'Ready')?.status === 'True');
  if (ready.length === 0) return { reason: 'NoNodes', message: 'no node is ready to serve Dns objects' };
  const failing = ready.flatMap((node) => {
    const said = conditionOf(node, dnsServedType);
    return said?.status === 'True' ? [] : [{ name: node.metadata.name, ...problemOf(said) }];
  });
  // Where something is wrong that is the reason, whatever has only to begin.
  const first = failing.find(({ reason }) => reason !== 'NotServedYet') ?? failing[0];
  if (!first) return undefined;
  const listed = [first, ...failing.filter((one) => one !== first)].slice(0, mostNamed);
  const names = listed.map(({ name, message }) => `${name}: ${message}`).join('; ');
  const rest = failing.length > mostNamed ? '; …' : '';
  return {
    reason: first.reason,
    message: `${failing.length} of ${ready.length} nodes do not serve Dns objects: ${names}${rest}`,
  };
}

const mostNamed = 3;

function problemOf(said: Condition | undefined): { reason: NotServedReason; message: string } {
  if (!said) return { reason: 'NotServedYet', message: 'not yet' };
  const { reason = 'RoutingFailed', message = reason } = said;
  return { reason: reason as NotServedReason, message };
}

const conditionOf = ({ status }: Node, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** What of a node matters here: nothing else of it changes what a Dns says. */
export function servingFingerprint(node: Node): string {
  const said = conditionOf(node, dnsServedType);
  return JSON.stringify([conditionOf(node, 'Ready')?.status, said?.status, said?.reason, said?.message]);
}
