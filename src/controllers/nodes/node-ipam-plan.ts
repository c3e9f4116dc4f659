/** Validates the ranges of pod addresses that nodes bring with them. Pure. */
import type { Node } from '../../api/core/v1/node/node.ts';
import { findCondition, withCondition } from '../../apimachinery/conditions.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { type PrefixRange, rangesMeet, rangeText, readRange } from '../../base/address-families.ts';

/**
 * Parsed once for each version of a node, because every change of a node is compared with all other nodes.
 */
const known = new WeakMap<Node, readonly PrefixRange[]>();

export function rangesOf(node: Node): readonly PrefixRange[] {
  const texts = node.spec.podCIDRs ?? (node.spec.podCIDR ? [node.spec.podCIDR] : []);
  const ranges = known.get(node) ?? texts.flatMap((text) => readRange(text) ?? []);
  known.set(node, ranges);
  return ranges;
}

/**
 * Returns true if a machine has registered as this Node. A Node that was created for a future machine gets no
 * range, because the machine may be configured with a range of its own, and an assigned range never changes.
 */
export const hasReported = ({ status }: Node): boolean => status?.nodeInfo !== undefined;

/**
 * Returns the reason why no pod can run with the node's ranges, in one line that states the remedy, or
 * undefined if the ranges are usable. `cluster` has the cluster's range of each family. If two nodes have
 * overlapping ranges, the older node keeps its range, since its pods have addresses from it.
 */
export function rangeProblem(
  node: Node,
  others: readonly Node[],
  cluster: readonly PrefixRange[],
): string | undefined {
  const advice = `delete the node and let it join again with another --pod-cidr, or without --pod-cidr to be assigned a range`;
  const families = cluster.map(({ family }) => family);
  // A range of a family that the cluster does not have any more is not used.
  for (const range of rangesOf(node).filter(({ family }) => families.includes(family))) {
    if (!isInside(range, cluster))
      return `the pod range ${rangeText(range)} of node ${node.metadata.name} is not inside the cluster-cidr ${textOf(cluster)}; ${advice}`;
    const holder = others.find(
      (other) => isBefore(other, node) && rangesOf(other).some((taken) => rangesMeet(taken, range)),
    );
    if (holder)
      return `the pod range ${rangeText(range)} of node ${node.metadata.name} overlaps that of node ${holder.metadata.name}; ${advice}`;
  }
  return undefined;
}

const textOf = (ranges: readonly PrefixRange[]) => ranges.map(rangeText).join(',');

const isInside = (range: PrefixRange, cluster: readonly PrefixRange[]) =>
  cluster.some((around) => around.prefix <= range.prefix && rangesMeet(around, range));

/** Prefix length of a node's assigned range of IPv4. It has room for more pods than --max-pods. */
export const nodePrefix = 24;
/** Prefix length of a node's range of IPv6, as kube-controller-manager assigns it. */
export const nodePrefix6 = 64;

/**
 * Returns the reason why a node may not choose its ranges itself, in one line, or undefined if it may. A
 * range must not be larger than an assigned range, because later nodes need ranges too, and must not overlap
 * another node's range.
 */
export function claimProblem(
  node: Node,
  others: readonly Node[],
  cluster: readonly PrefixRange[],
): string | undefined {
  const texts = node.spec.podCIDRs ?? [];
  const ranges = texts.flatMap((text) => readRange(text) ?? []);
  const claimed = `the pod range ${JSON.stringify(texts.join(','))} of node ${node.metadata.name}`;
  if (ranges.length < texts.length || !isPair(ranges))
    return `${claimed} is not one IPv4 range such as 10.244.7.0/24${cluster.length > 1 ? ', or one and a range of IPv6' : ''}`;
  for (const range of ranges) {
    const why = refusal(range, others, cluster);
    if (why !== undefined) return `${claimed} ${why}`;
  }
  return undefined;
}

const isPair = ([first, second, ...more]: readonly PrefixRange[]): boolean =>
  first?.family === 4 && (second === undefined || second.family === 6) && more.length === 0;

function refusal(
  range: PrefixRange,
  others: readonly Node[],
  cluster: readonly PrefixRange[],
): string | undefined {
  const around = cluster.find(({ family }) => family === range.family);
  const least = Math.max(range.family === 4 ? nodePrefix : nodePrefix6, around?.prefix ?? 0);
  if (range.prefix < least)
    return `is wider than the /${least} that a node may request; an administrator can set it in spec.podCIDR of the Node`;
  if (!around || !rangesMeet(range, around)) return `is not inside the cluster-cidr ${textOf(cluster)}`;
  const holder = others.find((other) => rangesOf(other).some((taken) => rangesMeet(taken, range)));
  return holder && `overlaps that of node ${holder.metadata.name}`;
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
