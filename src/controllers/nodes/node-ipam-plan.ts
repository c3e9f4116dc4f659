/** Ranges of pod addresses that nodes came with, and whether they can be used. Pure. */
import type { Node } from '../../api/core/v1/node.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { formatRange, type IPv4Range, overlaps, parseRange } from '../../base/addresses.ts';
import { findCondition, withCondition } from '../../controller-runtime/conditions.ts';

/** Read once for each version of a node: every change of a node is compared with all others. */
const known = new WeakMap<Node, readonly IPv4Range[]>();

export function rangesOf(node: Node): readonly IPv4Range[] {
  const texts = node.spec.podCIDRs ?? (node.spec.podCIDR ? [node.spec.podCIDR] : []);
  const ranges = known.get(node) ?? texts.flatMap((text) => parseRange(text) ?? []);
  known.set(node, ranges);
  return ranges;
}

/**
 * Whether a machine has taken the Node for its own. One that was made for a machine that is still to come gets no range:
 * the machine may be told which one it has, and a range stays once it is given.
 */
export const hasReported = ({ status }: Node): boolean => status?.nodeInfo !== undefined;

/**
 * Why no pod can run with the node's range, in one line that says what to do; undefined when it can be used. Of two
 * nodes that want the same the one that was there first keeps it, since its pods have these addresses.
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

/** The prefix length of the range a node is given. It has room for more pods than a node takes (--max-pods). */
export const nodePrefix = 24;

/**
 * Why a node may not name its range itself, in one line; undefined when it may. It takes no more than it would be given,
 * and nothing from any other: those that come later need ranges too.
 */
export function claimProblem(node: Node, others: readonly Node[], cluster: IPv4Range): string | undefined {
  const texts = node.spec.podCIDRs ?? [];
  const [text, ...more] = texts;
  const range = text === undefined || more.length > 0 ? undefined : parseRange(text);
  const asked = `the pod range ${JSON.stringify(texts.join(','))} of node ${node.metadata.name}`;
  if (!range) return `${asked} is not one IPv4 range such as 10.244.7.0/24`;
  if (range.prefix < Math.max(nodePrefix, cluster.prefix))
    return `${asked} is wider than the /${Math.max(nodePrefix, cluster.prefix)} that a node may ask for; an administrator can set it in spec.podCIDR of the Node`;
  if (!overlaps(range, cluster)) return `${asked} is not inside the cluster-cidr ${formatRange(cluster)}`;
  const holder = others.find((other) => rangesOf(other).some((taken) => overlaps(taken, range)));
  return holder && `${asked} overlaps that of node ${holder.metadata.name}`;
}

const ageOf = ({ metadata }: Node) => `${metadata.creationTimestamp} ${metadata.name}`;
const isBefore = (one: Node, other: Node) => ageOf(one) < ageOf(other);

const type = 'NetworkUnavailable';
const reason = 'PodCIDRConflict';

/**
 * The node's conditions with what is to be said about its range: the taint that keeps pods away follows from it.
 * Undefined when they say so already. A condition that somebody else wrote for other reasons stays.
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
