/**
 * Limits how fast the number of replicas may change (upstream: pkg/controller/podautoscaler/horizontal.go,
 * normalizeDesiredReplicasWithBehaviors). Pure. Times are readings of a monotonic clock, in milliseconds.
 */
import type { HPAScalingPolicy, HPAScalingRules } from '../../api/autoscaling/v2/types.gen.ts';

export interface Moment {
  readonly at: number;
  readonly replicas: number;
}

/** History of one autoscaler. */
export interface History {
  /** Replicas that were recommended at each sync. */
  readonly asked: readonly Moment[];
  /** Replicas that each change added or removed. */
  readonly added: readonly Moment[];
  readonly removed: readonly Moment[];
}

export const noHistory: History = { asked: [], added: [], removed: [] };

export interface Limits {
  readonly min: number;
  readonly max: number;
  readonly up: HPAScalingRules;
  readonly down: HPAScalingRules;
}

export interface Limited {
  readonly replicas: number;
  readonly reason:
    | 'DesiredWithinRange'
    | 'ScaleUpLimit'
    | 'TooManyReplicas'
    | 'ScaleDownLimit'
    | 'TooFewReplicas';
  readonly message: string;
  /** Direction of the stabilization window that keeps the current number; undefined if none does. */
  readonly stabilized: 'up' | 'down' | undefined;
}

/**
 * Default if neither the object nor the flag sets it (upstream:
 * --horizontal-pod-autoscaler-downscale-stabilization).
 */
export const usualDownWindowSeconds = 300;

const messages = {
  DesiredWithinRange: 'the desired count is within the acceptable range',
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
} as const;

/**
 * Returns the number of replicas within all limits. `wanted` is the number that the metrics recommend;
 * `remember` records it as `asked`.
 */
export function limit(
  current: number,
  wanted: number,
  history: History,
  limits: Limits,
  now: number,
): Limited {
  const stable = stabilize(current, wanted, history, limits, now);
  const stabilized = stable === wanted ? undefined : stable > wanted ? 'down' : 'up';
  const [replicas, reason] = withinRange(current, stable, history, limits, now);
  return { replicas, reason, stabilized, message: messages[reason] };
}

/** Returns the number of replicas within the limits of speed and number, and which limit applied. */
function withinRange(
  current: number,
  stable: number,
  history: History,
  limits: Limits,
  now: number,
): [number, Limited['reason']] {
  if (stable > current) {
    const fastest = Math.max(current, upLimit(current, history, limits.up, now));
    if (stable > fastest && fastest < limits.max) return [fastest, 'ScaleUpLimit'];
  } else if (stable < current) {
    const fastest = Math.min(current, downLimit(current, history, limits.down, now));
    if (stable < fastest && fastest > limits.min) return [fastest, 'ScaleDownLimit'];
  }
  return withinNumber(current, stable, limits);
}

/** Returns the number within minReplicas and maxReplicas; a count that does not change is kept. */
function withinNumber(current: number, stable: number, { min, max }: Limits): [number, Limited['reason']] {
  if (stable > current && stable > max) return [max, 'TooManyReplicas'];
  if (stable < current && stable < min) return [min, 'TooFewReplicas'];
  return [stable, 'DesiredWithinRange'];
}

/**
 * Scales up to at most the lowest recommendation within the scale-up window, and down to at least the highest
 * recommendation within the scale-down window.
 */
function stabilize(
  current: number,
  wanted: number,
  { asked }: History,
  { up, down }: Limits,
  now: number,
): number {
  const within = (seconds: number) =>
    asked.filter(({ at }) => at > now - seconds * 1000).map(({ replicas }) => replicas);
  const lowest = Math.min(wanted, ...within(up.stabilizationWindowSeconds ?? 0));
  const highest = Math.max(wanted, ...within(down.stabilizationWindowSeconds ?? usualDownWindowSeconds));
  return Math.min(Math.max(current, lowest), highest);
}

const changedWithin = (moments: readonly Moment[], { periodSeconds }: HPAScalingPolicy, now: number) =>
  moments
    .filter(({ at }) => at > now - periodSeconds * 1000)
    .reduce((sum, { replicas }) => sum + replicas, 0);

/** Returns the number of replicas at the start of the policy's period. */
const before = (current: number, { added, removed }: History, policy: HPAScalingPolicy, now: number) =>
  current - changedWithin(added, policy, now) + changedWithin(removed, policy, now);

function upLimit(current: number, history: History, rules: HPAScalingRules, now: number): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const limits = (rules.policies ?? []).map((policy) => {
    const start = before(current, history, policy, now);
    return policy.type === 'Pods' ? start + policy.value : Math.ceil(start * (1 + policy.value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits);
}

function downLimit(current: number, history: History, rules: HPAScalingRules, now: number): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const limits = (rules.policies ?? []).map((policy) => {
    const start = before(current, history, policy, now);
    return policy.type === 'Pods' ? start - policy.value : Math.trunc(start * (1 - policy.value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits);
}

/**
 * Returns the history with the recommendation and the change at `now`, without entries that are too old to
 * matter.
 */
export function remember(
  history: History,
  { asked, from, to }: { readonly asked: number; readonly from: number; readonly to: number },
  { up, down }: Limits,
  now: number,
): History {
  const window = Math.max(
    up.stabilizationWindowSeconds ?? 0,
    down.stabilizationWindowSeconds ?? usualDownWindowSeconds,
  );
  const period = (rules: HPAScalingRules) =>
    Math.max(0, ...(rules.policies ?? []).map(({ periodSeconds }) => periodSeconds));
  const longest = Math.max(period(up), period(down));
  const young = (moments: readonly Moment[], seconds: number) =>
    moments.filter(({ at }) => at > now - seconds * 1000);
  const change = (replicas: number) => (replicas > 0 ? [{ at: now, replicas }] : []);
  return {
    asked: [...young(history.asked, window), { at: now, replicas: asked }],
    added: [...young(history.added, longest), ...change(to - from)],
    removed: [...young(history.removed, longest), ...change(from - to)],
  };
}
