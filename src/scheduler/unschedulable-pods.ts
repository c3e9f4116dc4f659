/** Handles pods that no node can take: they wait, are explained, and may preempt other pods. */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Lister } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import type { Plugin, Remedy } from './framework.ts';
import type { Failure } from './known-failures.ts';
import { podInfo } from './pod-info.ts';
import type { PodWrites } from './pod-writes.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import type { Snapshot } from './snapshot.ts';
import type { WaitingPods } from './waiting-pods.ts';

export interface UnschedulablePodsOptions {
  readonly pods: Lister<Pod>;
  readonly snapshot: Snapshot;
  readonly waiting: WaitingPods;
  readonly plugins: readonly Plugin[];
  readonly writes: Pick<PodWrites, 'writeReason' | 'unnominate' | 'evict'>;
  readonly events: EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly schedulerName: string;
}

type Preemption = Extract<Remedy, { readonly kind: 'preempt' }>;

export class UnschedulablePods {
  readonly #options: UnschedulablePodsOptions;

  constructor(options: UnschedulablePodsOptions) {
    this.#options = options;
  }

  /** Lets the pod wait for an event that can help it, and writes why it waits. */
  async wait(key: ObjectKey, pod: Pod, { decision, explanation }: Failure): Promise<void> {
    const { snapshot, waiting, plugins, writes, events, metrics, clock, schedulerName } = this.#options;
    metrics.ended(key, 'unschedulable', schedulerName);
    const before = waiting.get(key)?.explanation.message;
    const keeping = plugins.filter(({ name }) => decision.plugins.has(name));
    waiting.add(key, podInfo(pod), keeping, explanation, clock.monotonic());
    if (before !== explanation.message) events.event(pod, 'Warning', 'FailedScheduling', explanation.message);
    const { remedy } = decision;
    const displaced = this.#nominate(pod, remedy);
    await writes.writeReason(pod, explanation, snapshot.nominations.nodeOf(pod.metadata.uid));
    if (remedy?.kind === 'preempt') await this.#preempt(key, pod, remedy, displaced);
  }

  /** Nominates the pod for the node. Returns the nominated pods of a lower priority that it displaces. */
  #nominate(pod: Pod, remedy: Remedy | undefined): readonly Pod[] {
    const { snapshot } = this.#options;
    const info = podInfo(pod);
    if (remedy?.kind !== 'preempt') {
      if (remedy?.kind !== 'wait') snapshot.endNomination(pod.metadata.uid);
      return [];
    }
    const displaced = [...snapshot.nominatedOn(remedy.node)].filter(
      ({ priority }) => priority < info.priority,
    );
    snapshot.nominate(info, remedy.node);
    for (const other of displaced) snapshot.endNomination(other.pod.metadata.uid);
    return displaced.map((other) => other.pod);
  }

  /** Evicts the victims, after the nominations of the displaced pods have been removed. */
  async #preempt(key: ObjectKey, pod: Pod, remedy: Preemption, displaced: readonly Pod[]): Promise<void> {
    const { pods, waiting, writes, metrics } = this.#options;
    metrics.preempted(remedy.victims.length);
    try {
      await Promise.all(displaced.map((other) => writes.unnominate(other)));
      const victims = remedy.victims.flatMap(({ pod: { metadata } }) => {
        const victim = pods.get(objectKey({ metadata }));
        return victim?.metadata.uid === metadata.uid ? [victim] : [];
      });
      await Promise.all(victims.map((victim) => writes.evict(victim, pod, remedy.node)));
    } catch (error) {
      // No victim was evicted, so no event would wake the pod.
      waiting.wake(key);
      throw error;
    }
  }
}
