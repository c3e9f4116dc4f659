/**
 * The pods that fit nowhere, each with what keeps it: an event wakes those alone that it can help (upstream's queueing hints).
 * Who is looked at in vain again and again waits between two looks (upstream's back-off). Times are milliseconds of a clock
 * that nobody sets.
 */
import type { Pod } from '../api/core/v1/pod.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { ClusterEvent } from './cluster-events.ts';
import type { Said } from './explain.ts';
import type { Cluster, Plugin, PodInfo } from './framework.ts';
import { podInfo } from './pod-info.ts';
import { policyAnnotation } from './policies.ts';

export interface WaitingPod {
  readonly info: PodInfo;
  /** Those that keep it. */
  readonly plugins: readonly Plugin[];
  readonly said: Said;
  /** Looks in vain since the pod came or was changed. */
  readonly looks: number;
  /** Not looked at before. */
  readonly notBefore: number;
  /** Something has happened that can help. */
  readonly awake: boolean;
}

const firstDelayMs = 1_000;
const longestDelayMs = 10_000;

/** The second look costs no wait, for most often one is enough; then a second, doubled up to ten. */
export const delayAfter = (looks: number): number =>
  looks < 2 ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (looks - 2));

export class WaitingPods {
  readonly #pods = new Map<ObjectKey, WaitingPod>();

  get(key: ObjectKey): WaitingPod | undefined {
    return this.#pods.get(key);
  }

  get size(): number {
    return this.#pods.size;
  }

  /** Those that are looked at when their pause is over, and those that wait for something to change. */
  counts(now: number): { readonly backoff: number; readonly unschedulable: number } {
    let backoff = 0;
    let unschedulable = 0;
    for (const { awake, notBefore } of this.#pods.values()) {
      if (!awake) unschedulable++;
      else if (notBefore > now) backoff++;
    }
    return { backoff, unschedulable };
  }

  /** The pod was looked at in vain. */
  add(key: ObjectKey, info: PodInfo, plugins: readonly Plugin[], said: Said, now: number): WaitingPod {
    const before = this.#pods.get(key);
    const looks = before && asksTheSame(before.info.pod, info.pod) ? before.looks + 1 : 1;
    const entry = { info, plugins, said, looks, notBefore: now + delayAfter(looks), awake: false };
    this.#pods.set(key, entry);
    return entry;
  }

  delete(key: ObjectKey): void {
    this.#pods.delete(key);
  }

  /** It is to be looked at again, whatever happens. */
  wake(key: ObjectKey): void {
    const entry = this.#pods.get(key);
    if (entry) this.#pods.set(key, { ...entry, awake: true });
  }

  /** The keys of those that the event can help. */
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

/** Those that wait for room on a node that has changed: it may not have them any more, and another must be found. */
const expectingPods = (event: ClusterEvent, cluster: Cluster): ReadonlySet<string> =>
  new Set(
    event.kind === 'nodeChanged'
      ? [...cluster.nominatedOn(event.node.name)].map(({ pod }) => pod.metadata.uid)
      : [],
  );

function canHelp(event: ClusterEvent, { info, plugins }: WaitingPod, cluster: Cluster): boolean {
  // It waits because there is no node at all.
  if (plugins.length === 0) return event.kind === 'nodeAdded';
  // What it says names the nodes there are.
  if (event.kind === 'nodeRemoved') return true;
  return plugins.some((plugin) => plugin.helps?.(event, info, cluster) ?? true);
}

/** Whether nothing has changed that a decision looks at. */
export function asksTheSame(before: Pod, now: Pod): boolean {
  return before === now || requestOf(before) === requestOf(now);
}

const requests = new WeakMap<Pod, string>();

/** Everything of a pod that a decision looks at, as one text: pods of one text fare alike. */
export function requestOf(pod: Pod): string {
  const known = requests.get(pod);
  if (known !== undefined) return known;
  const { namespace, labels, annotations, ownerReferences } = pod.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller)?.uid;
  // Claims of ephemeral volumes have the name of the pod in theirs.
  const { claims } = podInfo(pod);
  const text = JSON.stringify([namespace, labels, annotations?.[policyAnnotation], owner, claims, pod.spec]);
  requests.set(pod, text);
  return text;
}
