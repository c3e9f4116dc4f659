/**
 * Nodes' reports about serving Dns objects. Each node has one condition on its Node for all objects, since
 * its web server has one configuration for all. The node's agent writes it; the controller of Dns objects
 * reads it. Pure.
 */

import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Condition } from '../../../apimachinery/schema.ts';

export const dnsServedType = 'DnsServed';

export type DnsServedReason =
  /** True: the web server uses the newest objects that the node has read. */
  | 'Serving'
  /** The node has no Dns object yet: its Node does not have the condition. */
  | 'NothingToServe'
  | 'PortTaken'
  | 'WebServerNotStarted'
  | 'ConfigurationRefused'
  | 'RoutingFailed';

export interface DnsServed {
  readonly reason: DnsServedReason;
  readonly message: string;
}

/** Returns the condition without times; null (no condition) when there is nothing to serve. */
export function dnsServedCondition({ reason, message }: DnsServed): Condition | null {
  if (reason === 'NothingToServe') return null;
  return { type: dnsServedType, status: reason === 'Serving' ? 'True' : 'False', reason, message };
}

export type NotServedReason =
  | Exclude<DnsServedReason, 'Serving' | 'NothingToServe'>
  | 'NotServedYet'
  | 'NoNodes';

/** Returns the reason why some node does not serve Dns objects; undefined when all ready nodes do. */
export function notServed(
  nodes: readonly Node[],
): { readonly reason: NotServedReason; readonly message: string } | undefined {
  const ready = nodes.filter((node) => conditionOf(node, 'Ready')?.status === 'True');
  if (ready.length === 0) return { reason: 'NoNodes', message: 'no node is ready to serve Dns objects' };
  const failing = ready.flatMap((node) => {
    const condition = conditionOf(node, dnsServedType);
    return condition?.status === 'True' ? [] : [{ name: node.metadata.name, ...problemOf(condition) }];
  });
  // A failure takes precedence over nodes that have not started serving yet.
  const first = failing.find(({ reason }) => reason !== 'NotServedYet') ?? failing[0];
  if (!first) return undefined;
  const listed = [first, ...failing.filter((one) => one !== first)].slice(0, maxNamed);
  const names = listed.map(({ name, message }) => `${name}: ${message}`).join('; ');
  const rest = failing.length > maxNamed ? '; …' : '';
  return {
    reason: first.reason,
    message: `${failing.length} of ${ready.length} nodes do not serve Dns objects: ${names}${rest}`,
  };
}

const maxNamed = 3;

function problemOf(condition: Condition | undefined): { reason: NotServedReason; message: string } {
  if (!condition) return { reason: 'NotServedYet', message: 'not yet' };
  const { reason = 'RoutingFailed', message = reason } = condition;
  return { reason: reason as NotServedReason, message };
}

const conditionOf = ({ status }: Node, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** Returns a text of the parts of a Node that the status of Dns objects depends on. */
export function servingFingerprint(node: Node): string {
  const own = conditionOf(node, dnsServedType);
  return JSON.stringify([conditionOf(node, 'Ready')?.status, own?.status, own?.reason, own?.message]);
}
