/** Computes the usage of a quota and its status (upstream: pkg/controller/resourcequota). Pure. */
import type { ResourceQuota } from '../../api/core/v1/resource-quota.ts';
import type { Evaluator } from '../../api/quota/evaluator.ts';
import { scopesOf } from '../../api/quota/pod-scopes.ts';
import {
  type Amounts,
  addTo,
  amountsOf,
  readAmounts,
  type WrittenAmounts,
  writeAmounts,
} from '../../apimachinery/amounts.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  compareQuantities,
  type Quantity,
  sameAmounts,
  subtractQuantities,
  zeroQuantity,
} from '../../apimachinery/quantity.ts';

/** A countable kind. */
export interface Counted {
  readonly evaluator: Evaluator;
  /** Returns the objects of the kind in the quota's namespace. */
  readonly objects: () => readonly KubeObject[];
}

interface Entry {
  readonly object: KubeObject;
  readonly usage: Amounts;
  /** Time in milliseconds from which the usage is lower. */
  readonly until: number | undefined;
}

export interface Observation {
  readonly spec: ResourceQuota['spec'];
  /** Entries by uid. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Usage of everything that the quota limits and that can be counted. */
  readonly used: Amounts;
  /** Time in milliseconds at which the usage becomes lower without a change of an object. */
  readonly until: number | undefined;
}

/**
 * Counts the usage. Kinds that the quota does not limit are skipped, and unchanged objects are not counted
 * again.
 */
export function observe(
  quota: ResourceQuota,
  kinds: readonly Counted[],
  now: number,
  before?: Observation,
): Observation {
  const { spec } = quota;
  const hard = Object.keys(spec.hard ?? {});
  const known = before && deepEqual(before.spec, spec) ? before.entries : undefined;
  const counted = kinds.map((kind) => ({ ...kind, names: new Set(hard.filter(kind.evaluator.counts)) }));
  const entries = counted
    .filter(({ names }) => names.size > 0)
    .flatMap(({ evaluator, names, objects }) => {
      const measure = measureOf(quota, evaluator, names, now);
      return objects().flatMap((object) => {
        const last = known?.get(object.metadata.uid);
        return (last?.object === object && !isOver(last, now) ? last : measure(object)) ?? [];
      });
    });
  const used = new Map(counted.flatMap(({ names }) => [...names].map((name) => [name, zeroQuantity])));
  for (const { usage } of entries) addTo(used, usage);
  const ends = entries.flatMap(({ until }) => until ?? []);
  return {
    spec,
    entries: new Map(entries.map((entry) => [entry.object.metadata.uid, entry])),
    used,
    until: ends.length > 0 ? ends.reduce((a, b) => Math.min(a, b)) : undefined,
  };
}

/**
 * Returns a function that measures an object under those names. It returns undefined for objects outside the
 * quota's scopes.
 */
function measureOf(quota: ResourceQuota, evaluator: Evaluator, names: ReadonlySet<string>, now: number) {
  const scopes = scopesOf(quota);
  return (object: KubeObject): Entry | undefined => {
    if (!scopes.every((scope) => evaluator.isInScope(scope, object))) return undefined;
    const end = evaluator.endsIn(object, now);
    const usage = amountsOf(evaluator.usage(object, now), names);
    return { object, usage, until: end === undefined ? undefined : now + end };
  };
}

const isOver = ({ until }: Entry, now: number) => until !== undefined && until <= now;

/**
 * Object that was created since an observation, in its first state. It may be deleted before the next
 * observation.
 */
export interface Passing {
  readonly evaluator: Evaluator;
  readonly object: KubeObject;
}

/** Returns the observation with the objects that were created since. */
export function withPassing(quota: ResourceQuota, before: Observation, came: Iterable<Passing>, now: number) {
  const hard = Object.keys(quota.spec.hard ?? {});
  const entries = new Map(before.entries);
  for (const { evaluator, object } of came) {
    const { uid } = object.metadata;
    if (entries.has(uid)) continue;
    const entry = measureOf(quota, evaluator, new Set(hard.filter(evaluator.counts)), now)(object);
    if (entry) entries.set(uid, entry);
  }
  return { ...before, entries };
}

/** Returns the usage that ended between two observations. */
export function givenUp(before: Observation | undefined, now: Observation): Amounts {
  const sum = new Map<string, Quantity>();
  for (const [uid, { usage }] of before?.entries ?? []) {
    const still = now.entries.get(uid)?.usage;
    if (still === usage) continue;
    for (const [name, quantity] of usage) {
      const less = subtractQuantities(quantity, still?.get(name) ?? zeroQuantity);
      if (less.nano > 0n) addTo(sum, new Map([[name, less]]));
    }
  }
  return sum;
}

export interface StatusPlan {
  /** Undefined if the status is correct. */
  readonly status?: NonNullable<ResourceQuota['status']>;
  /**
   * The status reports more usage than exists. The surplus may be charged for objects that are about to be
   * stored.
   */
  readonly unsettled: boolean;
}

/**
 * Milliseconds after which usage that was charged to a quota but has no object is released. A writer charges
 * first and stores afterwards; an observation between the two must not release usage that is about to be
 * stored. While etcd is unavailable a write is retried for 15 s, and on a busy machine thousands of charged
 * creates wait seconds for their turn. A writer itself releases charges of objects that were certainly not
 * stored (kube-apiserver/admission/quota-charges.ts).
 */
export const settleMs = 30_000;

/**
 * Plans the status. `gone` is released at once; the rest is released when `settled`: no charge for
 * `settleMs`.
 */
export function planStatus(
  { spec: { hard = {} }, status }: ResourceQuota,
  observed: Amounts,
  gone: Amounts,
  settled: boolean,
): StatusPlan {
  const reported = readAmounts(status?.used);
  const used = new Map<string, Quantity>();
  let unsettled = false;
  // Resources that cannot be counted here keep their last reported value.
  const amountOf = (name: string): Quantity | undefined => {
    const [real, before] = [observed.get(name), reported.get(name)];
    if (!real || !before || settled) return real ?? before;
    return atLeast(real, subtractQuantities(before, gone.get(name) ?? zeroQuantity));
  };
  for (const name of Object.keys(hard)) {
    const amount = amountOf(name);
    if (!amount) continue;
    used.set(name, amount);
    const real = observed.get(name);
    if (real && compareQuantities(amount, real) > 0) unsettled = true;
  }
  const next = { hard, used: writeAmounts(used) };
  return isReported(next, status) ? { unsettled } : { status: next, unsettled };
}

const atLeast = (least: Quantity, quantity: Quantity) =>
  compareQuantities(quantity, least) > 0 ? quantity : least;

const isReported = (
  next: { readonly hard: WrittenAmounts; readonly used: WrittenAmounts },
  status: ResourceQuota['status'],
) =>
  status?.hard !== undefined &&
  status.used !== undefined &&
  sameAmounts(next.hard, status.hard) &&
  sameAmounts(next.used, status.used);

/** Returns true if the usage of any resource has risen. */
export function hasRisen(before: WrittenAmounts = {}, now: WrittenAmounts = {}): boolean {
  const then = readAmounts(before);
  return [...readAmounts(now)].some(
    ([name, quantity]) => compareQuantities(quantity, then.get(name) ?? zeroQuantity) > 0,
  );
}
