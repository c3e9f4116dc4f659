/** What is used of a quota, and when its status says so (upstream: pkg/controller/resourcequota). Pure. */
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

/** A kind that there is. */
export interface Counted {
  readonly evaluator: Evaluator;
  /** Its objects in the namespace of the quota. */
  readonly objects: () => readonly KubeObject[];
}

interface Entry {
  readonly object: KubeObject;
  readonly usage: Amounts;
  /** In milliseconds; from then on it is less. */
  readonly until: number | undefined;
}

export interface Observation {
  readonly spec: ResourceQuota['spec'];
  /** By uid. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Of everything that the quota limits and that can be counted. */
  readonly used: Amounts;
  /** When it is less though nothing changes, in milliseconds. */
  readonly until: number | undefined;
}

/** Objects of kinds of which the quota limits nothing are not looked at, and unchanged ones not again. */
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

/** What is counted of an object under those names; undefined of one out of the quota's scopes. */
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

/** What came since an observation, as it was first: it may be gone again before the next. */
export interface Passing {
  readonly evaluator: Evaluator;
  readonly object: KubeObject;
}

/** The observation, and what came since. */
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

/** What objects used before and use no more. */
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
  /** Undefined when it is as it should be. */
  readonly status?: NonNullable<ResourceQuota['status']>;
  /** More is said to be used than there is: it may have been taken for objects that are about to be stored. */
  readonly unsettled: boolean;
}

/**
 * Milliseconds after which what was taken from a quota and is not there is given back. Who writes an object takes first and
 * stores then: an observation between the two must not give back what is about to be used. Where etcd is away a write is tried for 15 s,
 * and on a busy machine thousands of creates that have taken wait seconds for their turn. What surely was not stored its writer gives back
 * (kube-apiserver/admission/quota-charges.ts).
 */
export const settleMs = 30_000;

/** `gone` is given back at once; the rest when it is `settled`: nobody has taken anything for `settleMs`. */
export function planStatus(
  { spec: { hard = {} }, status }: ResourceQuota,
  observed: Amounts,
  gone: Amounts,
  settled: boolean,
): StatusPlan {
  const told = readAmounts(status?.used);
  const used = new Map<string, Quantity>();
  let unsettled = false;
  for (const name of Object.keys(hard)) {
    const [real, before] = [observed.get(name), told.get(name)];
    // What cannot be counted here keeps what was last said of it.
    const amount =
      real && before && !settled
        ? atLeast(real, subtractQuantities(before, gone.get(name) ?? zeroQuantity))
        : (real ?? before);
    if (amount) used.set(name, amount);
    if (amount && real && compareQuantities(amount, real) > 0) unsettled = true;
  }
  const next = { hard, used: writeAmounts(used) };
  return isTold(next, status) ? { unsettled } : { status: next, unsettled };
}

const atLeast = (least: Quantity, quantity: Quantity) =>
  compareQuantities(quantity, least) > 0 ? quantity : least;

const isTold = (
  next: { readonly hard: WrittenAmounts; readonly used: WrittenAmounts },
  status: ResourceQuota['status'],
) =>
  status?.hard !== undefined &&
  status.used !== undefined &&
  sameAmounts(next.hard, status.hard) &&
  sameAmounts(next.used, status.used);

/** Whether more is used of anything. */
export function hasRisen(before: WrittenAmounts = {}, now: WrittenAmounts = {}): boolean {
  const then = readAmounts(before);
  return [...readAmounts(now)].some(
    ([name, quantity]) => compareQuantities(quantity, then.get(name) ?? zeroQuantity) > 0,
  );
}
