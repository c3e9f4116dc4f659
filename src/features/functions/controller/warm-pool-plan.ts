/** Decides how many instances wait in a namespace, and which of them can be assigned to a version. Pure. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { isPodActive, isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { controllerOf, isTerminating } from '../../../apimachinery/meta.ts';
import { parseQuantity, quantityValue } from '../../../apimachinery/quantity.ts';
import { functionLabel, functionVersionLabel } from '../api/function-instance.ts';
import type { FunctionVersion } from '../api/function-version.ts';
import { givenAtAnnotation, warmLabel, warmProblem, warmVersion } from '../api/warm-instance.ts';
import type { Digest } from './version-plan.ts';

/** Minimum memory and CPUs of a node; no instance waits on smaller nodes. */
const minMemory = 2 * 1024 ** 3;
const minCpus = 2;

/**
 * Milliseconds for which a failed instance counts as present, so that an instance that cannot start is not
 * recreated at once.
 */
const failedMs = 30_000;

/**
 * Milliseconds after an assignment in which no instance is created, because the assigned instance needs the
 * processor.
 */
const restMs = 3000;

export const isWaiting = ({ metadata }: Pod): boolean =>
  metadata.labels?.[warmLabel] !== undefined && metadata.labels[functionLabel] === undefined;

/** Returns the names of nodes that are large enough, in order. */
export function roomyNodes(nodes: readonly Node[]): readonly string[] {
  const amount = (text = '0') => quantityValue(parseQuantity(text));
  return nodes
    .filter(({ status, spec }) => {
      const { memory, cpu } = (status?.capacity ?? {}) as Record<string, string>;
      return !spec?.unschedulable && amount(memory) >= minMemory && amount(cpu) >= minCpus;
    })
    .map(({ metadata }) => metadata.labels?.['kubernetes.io/hostname'] ?? metadata.name)
    .sort();
}

export interface PoolFacts {
  /** Desired number of waiting instances. */
  readonly size: number;
  /** Pods of the runtime: waiting ones, including those of outdated versions, and assigned ones. */
  readonly pods: readonly Pod[];
  /** Name of the version that waiting pods should have; undefined if no instance should wait. */
  readonly version: string | undefined;
  readonly now: number;
}

export interface PoolPlan {
  readonly create: number;
  readonly remove: readonly Pod[];
  /** Milliseconds after which time alone changes the plan. */
  readonly again: number | undefined;
}

export function planPool({ size, pods, version, now }: PoolFacts): PoolPlan {
  const there = pods.filter((pod) => isWaiting(pod) && !isTerminating(pod));
  const given = pods.map(({ metadata }) => Date.parse(metadata.annotations?.[givenAtAnnotation] ?? ''));
  const rest = Math.max(0, ...given.filter((at) => at <= now).map((at) => at + restMs - now));
  const own = there.filter(({ metadata }) => metadata.labels?.[functionVersionLabel] === version);
  const others = there.filter((pod) => !own.includes(pod));
  const age = ({ metadata }: Pod) => now - Date.parse(metadata.creationTimestamp);
  const failed = own.filter(isPodTerminal);
  const fresh = failed.filter((pod) => age(pod) < failedMs);
  const alive = own.filter(isPodActive);
  const surplus = alive.toSorted((a, b) => age(a) - age(b)).slice(0, Math.max(0, alive.length - size));
  const missing = version === undefined ? 0 : Math.max(0, size - alive.length - fresh.length);
  const waits = [...fresh.map((pod) => failedMs - age(pod)), ...(missing > 0 && rest > 0 ? [rest] : [])];
  return {
    create: rest > 0 ? 0 : missing,
    remove: [...others, ...failed.filter((pod) => !fresh.includes(pod)), ...surplus],
    again: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

/** Returns the pods that can be assigned to the version now, the oldest first. */
export function fitting(pods: readonly Pod[], version: FunctionVersion, digest: Digest): readonly Pod[] {
  const { runtime, baseImage } = version.spec;
  if (!runtime || !baseImage || warmProblem(version) !== undefined) return [];
  const { metadata, spec } = warmVersion(version.metadata.namespace ?? '', runtime, baseImage, digest);
  return pods
    .filter(
      (pod) =>
        isWaiting(pod) &&
        // A mirror pod of a static pod may have any labels, but it has an owner and never such an image.
        controllerOf(pod) === undefined &&
        pod.spec.containers.every(({ image }) => image === spec.image) &&
        pod.metadata.labels?.[functionVersionLabel] === metadata.name &&
        isPodActive(pod) &&
        pod.status?.containerStatuses?.some(({ state }) => state?.running) === true,
    )
    .toSorted((a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp));
}
