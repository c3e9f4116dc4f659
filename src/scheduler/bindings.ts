/** The pods with a chosen node, from their Permits over PreBind to the binding. */
import { type Pod, podResource } from '../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import { isNotFoundOf } from '../apimachinery/status-error.ts';
import type { Clock } from '../base/clock.ts';
import { inChildSpan } from '../base/tracing/current-span.ts';
import type { Client } from '../client/client.ts';
import type { Lister } from '../client/informer.ts';
import type { ReconcileResult } from '../controller-runtime/definition.ts';
import { explainDecision } from './explain.ts';
import type { Plugin } from './framework.ts';
import type { Failure } from './known-failures.ts';
import { Permits } from './permits.ts';
import { podInfo } from './pod-info.ts';
import type { PodWrites } from './pod-writes.ts';
import { PreBinds, type PreBound } from './pre-binds.ts';
import { refusedBy, type Unschedulable } from './schedule-one.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import type { Snapshot } from './snapshot.ts';
import type { UnschedulablePods } from './unschedulable-pods.ts';
import type { WaitingPods } from './waiting-pods.ts';
import type { WantedPods } from './wanted-pods.ts';

export interface BindingsOptions {
  readonly client: Client;
  readonly pods: Lister<Pod>;
  readonly snapshot: Snapshot;
  readonly waiting: WaitingPods;
  readonly wanted: Pick<WantedPods, 'pending'>;
  readonly unschedulable: Pick<UnschedulablePods, 'wait'>;
  readonly plugins: readonly Plugin[];
  readonly writes: Pick<PodWrites, 'bind'>;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly schedulerName: string;
}

export class Bindings {
  readonly #options: BindingsOptions;
  readonly #permits: Permits;
  readonly #preBinds: PreBinds;

  constructor(options: BindingsOptions) {
    this.#options = options;
    this.#permits = new Permits(options.plugins);
    this.#preBinds = new PreBinds(options.client, options.plugins);
  }

  /** Keys of the pods that have a chosen node and are not bound yet. */
  get keys(): Iterable<ObjectKey> {
    return this.#permits.keys;
  }

  has(key: ObjectKey): boolean {
    return this.#permits.has(key);
  }

  /** Begins to bind a pod, which the snapshot already assumes on the node. */
  begin(key: ObjectKey, pod: Pod, node: string): Promise<ReconcileResult | undefined> {
    this.#permits.ask(key, pod, node, this.#options.clock.monotonic());
    return this.proceed(key);
  }

  /** Binds a pod with a chosen node once every Permit allows it. */
  async proceed(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { snapshot, clock, wanted, unschedulable } = this.#options;
    const { pod, answer } = this.#permits.answer(key, snapshot, clock.monotonic());
    if (answer.kind === 'wait' && this.#isThere(key, pod)) return { requeueAfter: answer.ms };
    const before = answer.kind === 'allowed' ? await this.#preBound(key, pod, answer.node) : answer;
    if (before.kind === 'wait' && this.#isThere(key, pod)) return { requeueAfter: before.ms };
    this.#permits.delete(key);
    this.#preBinds.delete(key);
    if (answer.kind === 'allowed' && before.kind === 'done') {
      await this.#bind(key, pod, answer.node);
      return undefined;
    }
    snapshot.forget(pod.metadata.uid);
    if (before.kind === 'refused' && wanted.pending(key))
      await unschedulable.wait(key, pod, this.#refusedOne(refusedBy(before.refused)));
    return undefined;
  }

  #isThere(key: ObjectKey, pod: Pod): boolean {
    return this.#options.pods.get(key)?.metadata.uid === pod.metadata.uid;
  }

  /** Runs PreBind. Nothing is written for a pod that is gone. */
  async #preBound(key: ObjectKey, pod: Pod, nodeName: string): Promise<PreBound> {
    const { snapshot, clock } = this.#options;
    const node = snapshot.node(nodeName);
    if (!node || !this.#isThere(key, pod)) return { kind: 'done' };
    return this.#preBinds.step(key, podInfo(pod), node, snapshot, clock.monotonic());
  }

  async #bind(key: ObjectKey, pod: Pod, nodeName: string): Promise<void> {
    const { snapshot, plugins, writes, metrics, waiting, schedulerName } = this.#options;
    const node = snapshot.node(nodeName);
    try {
      for (const plugin of node ? plugins : []) {
        const request = node && plugin.bind?.(podInfo(pod), node);
        if (!request) continue;
        await inChildSpan('bind', { node: nodeName }, () => writes.bind(pod, request, node.node));
        metrics.ended(key, 'scheduled', schedulerName);
        waiting.delete(key);
        return;
      }
      throw new Error(`node ${nodeName} is gone, or no plugin binds the pod`);
    } catch (error) {
      snapshot.forget(pod.metadata.uid);
      metrics.ended(key, 'error', schedulerName);
      // A pod that was deleted in the meantime needs no node, even if the cache still shows it. Other errors
      // are retried.
      if (this.#isThere(key, pod) && !isNotFoundOf(podResource, error)) throw error;
    }
  }

  /** Returns the failure of a Permit, which applies to this pod alone. */
  #refusedOne(decision: Unschedulable): Failure {
    return { decision, explanation: explainDecision(decision, this.#options.snapshot.nodes.length) };
  }
}
