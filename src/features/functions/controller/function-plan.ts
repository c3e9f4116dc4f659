/**
 * Decides which version of a Function is called, how many instances each version has, and the status. Pure.
 */

import { isPodActive, isPodTerminal, podReady } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { findCondition, timedCondition } from '../../../apimachinery/conditions.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Fn } from '../api/function.ts';
import { functionVersionLabel, isInstanceLost } from '../api/function-instance.ts';
import { problemOf } from './instance-problem.ts';

export interface FunctionFacts {
  /** Names of the existing versions, including the latest. */
  readonly versions: readonly string[];
  /** Version of the current spec. */
  readonly latest: string;
  /** All pods of the function. */
  readonly pods: readonly Pod[];
  /** Names of the masters that are alive. */
  readonly masters: ReadonlySet<string>;
  /** Current time in milliseconds, and the same in RFC 3339. */
  readonly now: number;
  readonly timestamp: string;
}

export interface FunctionPlan {
  readonly create: readonly { readonly version: string; readonly count: number }[];
  readonly remove: readonly Pod[];
  /** Names of versions that are no longer in use. */
  readonly obsolete: readonly string[];
  readonly status: NonNullable<Fn['status']>;
  /** New problem to report as an event. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
  /** Milliseconds after which time alone changes the plan. */
  readonly again: number | undefined;
}

const versionOfPod = ({ metadata }: Pod) => metadata.labels?.[functionVersionLabel] ?? '';

export function planFunction(fn: Fn, facts: FunctionFacts): FunctionPlan {
  const { latest, pods, versions, now } = facts;
  const active = activeVersion(fn, facts);
  const wanted = wantedInstances(fn, facts);
  const counts = new Map<string, number>();
  const isNew = active !== latest;
  const rest = isNew ? undefined : restsIn(fn, now);
  // An instance that has just been created to test the version is kept for a while, because calls are likely
  // to follow.
  counts.set(active ?? latest, rest === undefined ? wanted : Math.max(wanted, 1));
  if (isNew) counts.set(latest, triedInstances(facts, wanted));
  const create: { version: string; count: number }[] = [];
  const isOver = (pod: Pod) => isPodTerminal(pod) || isInstanceLost(pod);
  const remove: Pod[] = pods.filter((pod) => isOver(pod) && !isTerminating(pod));
  const alive = pods.filter((pod) => isPodActive(pod) && !isOver(pod));
  for (const version of new Set([...alive.map(versionOfPod), ...counts.keys()])) {
    const own = alive.filter((pod) => versionOfPod(pod) === version);
    const surplus = own.length - (counts.get(version) ?? 0);
    if (surplus < 0) create.push({ version, count: -surplus });
    else remove.push(...leastUseful(own).slice(0, surplus));
  }
  const inUse = new Set([latest, active, ...pods.map(versionOfPod)]);
  const { status, problem } = planStatus(fn, facts, active);
  return {
    create,
    remove,
    obsolete: versions.filter((version) => !inUse.has(version)),
    status,
    problem,
    again: rest,
  };
}

/**
 * Returns the latest version once it has as many ready instances as are needed, at least one; until then the
 * version before it.
 */
function activeVersion(fn: Fn, facts: FunctionFacts): string | undefined {
  const { latest, versions } = facts;
  const before = fn.status?.activeVersion;
  if (before === latest) return latest;
  const isThere = before !== undefined && versions.includes(before);
  const needed = isThere ? Math.max(1, wantedInstances(fn, facts)) : 1;
  if (readyOf(facts, latest) >= needed) return latest;
  return isThere ? before : undefined;
}

const readyOf = ({ pods }: FunctionFacts, version: string) =>
  pods.filter((pod) => isPodActive(pod) && versionOfPod(pod) === version && podReady(pod)).length;

/**
 * Returns 1 until an instance has shown that the version can be built and started; afterwards the number of
 * instances that the version needs before it becomes active.
 */
const triedInstances = (facts: FunctionFacts, wanted: number) =>
  readyOf(facts, facts.latest) > 0 ? Math.max(1, wanted) : 1;

/** Returns the sum of the demand of all live masters' gateways, within the bounds of the spec. */
export function wantedInstances({ spec, status }: Fn, { masters }: Pick<FunctionFacts, 'masters'>): number {
  const demanded = Object.entries(status?.demand ?? {}).reduce(
    (sum, [master, count]) => sum + (masters.has(master) ? Math.max(0, count) : 0),
    0,
  );
  return Math.min(spec.maxScale, Math.max(spec.minScale, demanded));
}

/**
 * Returns the milliseconds until the instance of a version that has just become active may be removed;
 * undefined if it may be removed now.
 */
function restsIn({ spec, status }: Fn, now: number): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  // The new active version is not in the status yet: the time begins when it is written.
  if (ready?.status !== 'True') return (spec.idleSeconds ?? 0) * 1000;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  const left = since + (spec.idleSeconds ?? 0) * 1000 - now;
  return left > 0 ? left : undefined;
}

/** Returns the pods that are not ready first, then the youngest. */
function leastUseful(pods: readonly Pod[]): readonly Pod[] {
  const age = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp);
  return pods.toSorted((a, b) => Number(podReady(a)) - Number(podReady(b)) || age(b) - age(a));
}

function planStatus(fn: Fn, facts: FunctionFacts, active: string | undefined) {
  const { latest, pods, timestamp, masters } = facts;
  const alive = pods.filter(isPodActive);
  const demand = Object.entries(fn.status?.demand ?? {}).filter(([master]) => masters.has(master));
  const before = fn.status?.conditions ?? [];
  const tried = alive.filter((pod) => versionOfPod(pod) === latest);
  const problem = active === latest ? undefined : tried.map(problemOf).find((one) => one !== undefined);
  const ready = readyCondition(active === latest, active, problem);
  const conditions = [timedCondition(before, { type: 'Ready', ...ready }, timestamp)];
  const status = {
    observedGeneration: fn.metadata.generation,
    latestVersion: latest,
    ...(active !== undefined && { activeVersion: active }),
    ...(demand.length > 0 && { demand: Object.fromEntries(demand) }),
    replicas: alive.length,
    readyReplicas: alive.filter((pod) => versionOfPod(pod) === active && podReady(pod)).length,
    conditions,
  };
  const previous = findCondition(before, 'Ready');
  const isNews = previous?.message !== ready.message || previous.reason !== ready.reason;
  return { status, problem: problem && isNews ? problem : undefined };
}

function readyCondition(
  isLatest: boolean,
  active: string | undefined,
  problem: { readonly reason: string; readonly message: string } | undefined,
) {
  if (isLatest) {
    return { status: 'True', reason: 'Callable', message: 'the current version is called' } as const;
  }
  const serves = active === undefined ? 'no version can be called' : `${active} is called meanwhile`;
  if (problem) {
    const message = active === undefined ? problem.message : `${problem.message}\n(${serves})`;
    return { status: 'False', reason: problem.reason, message } as const;
  }
  const message = `the first instance of this version is being built or started; ${serves}`;
  return { status: 'False', reason: 'Starting', message } as const;
}
