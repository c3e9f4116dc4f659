/** Validates the ranges of pod addresses that nodes bring with them. Pure. */
import type { Node } from '../../api/core/v1/node/node.ts';
import { findCondition, withCondition } from '../../apimachinery/conditions.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { formatRange, type IPv4Range, overlaps, parseRange } from '../../base/addresses.ts';

/**
 * Parsed once for each version of a node, because every change of a node is compared with all other nodes.
 */
const known = new WeakMap<Node, readonly IPv4Range[]>();

export function rangesOf(node: Node): readonly IPv4Range[] {
  const texts = node.spec.podCIDRs ?? (node.spec.podCIDR ? [node.spec.podCIDR] : []);
  const ranges = known.get(node) ?? texts.flatMap((text) => parseRange(text) ?? []);
  known.set(node, ranges);
  return ranges;
}

/**
 * Returns true if a machine has registered as this Node. A Node that was created for a future machine gets no
 * range, because the machine may be configured with a range of its own, and an assigned range never changes.
 */
export const hasReported = ({ status }: Node): boolean => status?.nodeInfo !== undefined;

/**
 * Returns the reason why no pod can run with the node's range, in one line that states the remedy, or
 * undefined if the range is usable. If two nodes have overlapping ranges, the older node keeps its range,
 * since its pods have addresses from it.
 */
export function rangeProblem(node: Node, others: readonly Node[], cluster: IPv4Range): string | undefined {
  const advice = `delete the node and let it join again with another --pod-cidr, or without --pod-cidr to be assigned a range`;
  for (const range of rangesOf(node)) {
    if (range.prefix < cluster.prefix || !overlaps(range, cluster))
      return `the pod range ${formatRange(range)} of node ${node.metadata.name} is not inside the cluster-cidr ${formatRange(cluster)}; ${advice}`;
    const holder = others.find(
      (other) => isBefore(other, node) && rangesOf(other).some((taken) => overlaps(taken, range)),
    );
    if (holder)
      return `the pod range ${formatRange(range)} of node ${node.metadata.name} overlaps that of node ${holder.metadata.name}; ${advice}`;
  }
  return undefined;
}

/** Prefix length of a node's assigned range. It has room for more pods than a node accepts (--max-pods). */
export const nodePrefix = 24;

/**
 * Returns the reason why a node may not choose its range itself, in one line, or undefined if it may. The
 * range must not be larger than an assigned range, because later nodes need ranges too, and must not overlap
 * another node's range.
 */
export function claimProblem(node: Node, others: readonly Node[], cluster: IPv4Range): string | undefined {
  const texts = node.spec.podCIDRs ?? [];
  const [text, ...more] = texts;
  const range = text === undefined || more.length > 0 ? undefined : parseRange(text);
  const claimed = `the pod range ${JSON.stringify(texts.join(','))} of node ${node.metadata.name}`;
  if (!range) return `${claimed} is not one IPv4 range such as 10.244.7.0/24`;
  if (range.prefix < Math.max(nodePrefix, cluster.prefix))
    return `${claimed} is wider than the /${Math.max(nodePrefix, cluster.prefix)} that a node may request; an administrator can set it in spec.podCIDR of the Node`;
  if (!overlaps(range, cluster)) return `${claimed} is not inside the cluster-cidr ${formatRange(cluster)}`;
  const holder = others.find((other) => rangesOf(other).some((taken) => overlaps(taken, range)));
  return holder && `${claimed} overlaps that of node ${holder.metadata.name}`;
}

const ageOf = ({ metadata }: Node) => `${metadata.creationTimestamp} ${metadata.name}`;
const isBefore = (one: Node, other: Node) => ageOf(one) < ageOf(other);

const type = 'NetworkUnavailable';
const reason = 'PodCIDRConflict';

/**
 * Returns the node's conditions with the state of its range; the taint that keeps pods away follows from
 * them. Returns undefined if the conditions are already correct. A condition with another reason is kept.
 */
export function rangeConditions(
  node: Node,
  problem: string | undefined,
  now: string,
): Condition[] | undefined {
  const before = node.status?.conditions ?? [];
  const current = findCondition(before, type);
  if (problem !== undefined) {
    if (current?.status === 'True' && current.message === problem) return undefined;
    if (current?.reason === reason)
      return before.map((one) => (one === current ? { ...one, message: problem } : one));
    return withCondition(before, { type, status: 'True', reason, message: problem, lastTransitionTime: now });
  }
  if (current?.status !== 'True' || current.reason !== reason) return undefined;
  const message = 'the pod range of this node can be used';
  return withCondition(before, {
    type,
    status: 'False',
    reason: 'PodCIDRUsable',
    message,
    lastTransitionTime: now,
  });
}
