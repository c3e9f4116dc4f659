/**
 * Unschedulable pods, each with the plugins that rejected it. An event wakes only pods that it can help
 * (upstream's queueing hints). Repeated failures are delayed by a back-off, as upstream. Times are
 * milliseconds of a monotonic clock.
 */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import { backoffMs } from '../base/backoff.ts';
import type { ClusterEvent } from './cluster-events.ts';
import type { Explanation } from './explain.ts';
import type { Cluster, Plugin } from './framework.ts';
import type { PodInfo } from './node-info.ts';
import { podInfo } from './pod-info.ts';
import { policyAnnotation } from './policies.ts';

export interface WaitingPod {
  readonly info: PodInfo;
  /** Plugins that reject the pod. */
  readonly plugins: readonly Plugin[];
  readonly explanation: Explanation;
  /** Failed attempts since the pod was created or changed. */
  readonly looks: number;
  /** Time before which the pod is not scheduled again. */
  readonly notBefore: number;
  /** True if an event has occurred that can help. */
  readonly awake: boolean;
}

const delays = { initialMs: 1_000, maxMs: 10_000 };

/**
 * Returns the delay before the next attempt. The second attempt is immediate, because it usually succeeds;
 * then the delay is one second, doubled up to ten.
 */
export const delayAfter = (looks: number): number => backoffMs(delays, looks - 1);

export class WaitingPods {
  readonly #pods = new Map<ObjectKey, WaitingPod>();

  get(key: ObjectKey): WaitingPod | undefined {
    return this.#pods.get(key);
  }

  get size(): number {
    return this.#pods.size;
  }

  /** Returns the number of pods in back-off, and of those that wait for an event. */
  counts(now: number): { readonly backoff: number; readonly unschedulable: number } {
    let backoff = 0;
    let unschedulable = 0;
    for (const { awake, notBefore } of this.#pods.values()) {
      if (!awake) unschedulable++;
      else if (notBefore > now) backoff++;
    }
    return { backoff, unschedulable };
  }

  /** Adds a pod after a failed attempt. */
  add(
    key: ObjectKey,
    info: PodInfo,
    plugins: readonly Plugin[],
    explanation: Explanation,
    now: number,
  ): WaitingPod {
    const before = this.#pods.get(key);
    const looks = before && asksTheSame(before.info.pod, info.pod) ? before.looks + 1 : 1;
    const entry = { info, plugins, explanation, looks, notBefore: now + delayAfter(looks), awake: false };
    this.#pods.set(key, entry);
    return entry;
  }

  delete(key: ObjectKey): void {
    this.#pods.delete(key);
  }

  /** Wakes the pod without an event. */
  wake(key: ObjectKey): void {
    const entry = this.#pods.get(key);
    if (entry) this.#pods.set(key, { ...entry, awake: true });
  }

  /** Wakes the pods that the event can help, and returns their keys. */
  heard(event: ClusterEvent, cluster: Cluster): readonly ObjectKey[] {
    const woken: ObjectKey[] = [];
    const expecting = expectingPods(event, cluster);
    for (const [key, entry] of this.#pods) {
      if (!expecting.has(entry.info.pod.metadata.uid) && !canHelp(event, entry, cluster)) continue;
      if (!entry.awake) this.#pods.set(key, { ...entry, awake: true });
      woken.push(key);
    }
    return woken;
  }
}

/**
 * Returns the pods nominated for a node that has changed: the node may no longer accept them, so that another
 * is needed.
 */
const expectingPods = (event: ClusterEvent, cluster: Cluster): ReadonlySet<string> =>
  new Set(
    event.kind === 'nodeChanged'
      ? [...cluster.nominatedOn(event.node.name)].map(({ pod }) => pod.metadata.uid)
      : [],
  );

function canHelp(event: ClusterEvent, { info, plugins }: WaitingPod, cluster: Cluster): boolean {
  // The pod waits because there is no node at all.
  if (plugins.length === 0) return event.kind === 'nodeAdded';
  // The message of the pod refers to the existing nodes.
  if (event.kind === 'nodeRemoved') return true;
  return plugins.some((plugin) => plugin.helps?.(event, info, cluster) ?? true);
}

/** Returns true if nothing has changed that a decision depends on. */
export function asksTheSame(before: Pod, now: Pod): boolean {
  return before === now || requestOf(before) === requestOf(now);
}

const requests = new WeakMap<Pod, string>();

/**
 * Returns everything in a pod on which a decision depends, as one text. Pods with equal texts get equal
 * results.
 */
export function requestOf(pod: Pod): string {
  const known = requests.get(pod);
  if (known !== undefined) return known;
  const { namespace, labels, annotations, ownerReferences } = pod.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller)?.uid;
  // The names of ephemeral claims contain the name of the pod.
  const { claims } = podInfo(pod);
  const text = JSON.stringify([namespace, labels, annotations?.[policyAnnotation], owner, claims, pod.spec]);
  requests.set(pod, text);
  return text;
}
