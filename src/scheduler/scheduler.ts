/**
 * Binds pending pods to nodes. Invariants: decisions are made one after another on a snapshot that counts
 * every bound or assumed pod, so that no node is overcommitted; bindings are sent in parallel. An
 * unschedulable pod waits for an event that can help it; nothing is retried by time alone. Pending pods with
 * the highest priority are decided first, and may preempt others.
 */

import { nodeResource } from '../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../api/core/v1/pod/pod.ts';
import { priorityOf } from '../api/core/v1/pod/priority.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { inTurns, type NextPiece } from '../base/event-loop/pieces.ts';
import { Registry } from '../base/metrics/registry.ts';
import { inChildSpanNow } from '../base/tracing/current-span.ts';
import type { InformerFactory, Lister } from '../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../controller-runtime/definition.ts';
import { Bindings } from './bindings.ts';
import type { ClusterEvent } from './cluster-events.ts';
import { type ClusterSources, clusterSources } from './cluster-sources.ts';
import type { Plugin } from './framework.ts';
import { KnownFailures } from './known-failures.ts';
import { plugins as defaultPlugins } from './plugins/index.ts';
import { podInfo } from './pod-info.ts';
import { PodWrites } from './pod-writes.ts';
import { type Policy, policies } from './policies.ts';
import { type Decision, scheduleOne } from './schedule-one.ts';
import { SchedulerMetrics } from './scheduler-metrics.ts';
import type { ScoringStrategy } from './scoring-strategy.ts';
import { Snapshot } from './snapshot.ts';
import { UnschedulablePods } from './unschedulable-pods.ts';
import { asksTheSame, WaitingPods } from './waiting-pods.ts';
import { WantedPods } from './wanted-pods.ts';

export interface SchedulerOptions {
  readonly policy?: Policy;
  /** Scoring strategy for the resources of nodes; default upstream's, LeastAllocated. */
  readonly scoring?: ScoringStrategy;
  /** Plugins that replace the default ones. */
  readonly plugins?: readonly Plugin[];
  /** Name of this scheduler; pods with another schedulerName are ignored. */
  readonly schedulerName?: string;
  /** Metrics; default: a registry that is not exposed. */
  readonly metrics?: SchedulerMetrics;
}

/** Creates the scheduler. Throws if the policy is unknown. */
export function scheduler(options: SchedulerOptions = {}): ControllerFactory {
  const { policy = 'Default' } = options;
  if (!policies.includes(policy))
    throw new Error(
      `scheduler policy ${JSON.stringify(policy)} does not exist; use one of ${policies.join(', ')}`,
    );
  return (context) => new Scheduler(context, { ...options, policy }).definition();
}

class Scheduler {
  readonly #context: ControllerContext;
  readonly #policy: Policy;
  readonly #plugins: readonly Plugin[];
  readonly #metrics: SchedulerMetrics;
  readonly #writes: PodWrites;
  readonly #pods: Lister<Pod>;
  readonly #sources: ClusterSources;
  readonly #snapshot: Snapshot;
  readonly #waiting = new WaitingPods();
  readonly #failures = new KnownFailures();
  readonly #wanted: WantedPods;
  readonly #unschedulable: UnschedulablePods;
  readonly #bindings: Bindings;
  readonly #myTurn: NextPiece;
  #lastNode: string | undefined;
  #begin = 0;

  constructor(context: ControllerContext, options: SchedulerOptions & { readonly policy: Policy }) {
    const { client, clock, events, informers } = context;
    const { schedulerName = 'default-scheduler' } = options;
    this.#context = context;
    this.#policy = options.policy;
    this.#plugins = options.plugins ?? defaultPlugins(options.scoring);
    this.#metrics = options.metrics ?? new SchedulerMetrics(new Registry(), clock);
    this.#writes = new PodWrites(context);
    this.#pods = informers.informerFor(podResource).lister;
    this.#sources = clusterSources(informers);
    this.#snapshot = new Snapshot(this.#sources, (event) => this.#heard(event));
    this.#myTurn = inTurns(clock);
    const parts = {
      ...{ pods: this.#pods, snapshot: this.#snapshot, waiting: this.#waiting, plugins: this.#plugins },
      ...{ writes: this.#writes, metrics: this.#metrics, client, clock, events, schedulerName },
    };
    this.#wanted = new WantedPods(parts);
    this.#unschedulable = new UnschedulablePods(parts);
    this.#bindings = new Bindings({ ...parts, wanted: this.#wanted, unschedulable: this.#unschedulable });
    this.#metrics.begins(() => this.#wanted.counts(clock.monotonic()));
    this.#follow(informers);
  }

  definition(): ControllerDefinition {
    return {
      name: 'scheduler',
      // Decisions never overlap, because nothing is awaited between reading the snapshot and assuming.
      // Bindings do overlap.
      workers: 64,
      urgencyOf: (key) => {
        const pod = this.#pods.get(key);
        return pod ? priorityOf(pod) : 0;
      },
      watches: [watched(podResource, (pod) => [objectKey(pod)])],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  /** Keeps the snapshot up to date. */
  #follow(informers: InformerFactory): void {
    const snapshot = this.#snapshot;
    informers.informerFor(podResource).addEventHandler({
      onAdd: (pod) => this.#podSeen(pod),
      onUpdate: (pod, old) => this.#podSeen(pod, old),
      onDelete: (pod) => {
        snapshot.removePod(pod.metadata.uid);
        this.#metrics.forget(objectKey(pod));
      },
    });
    informers.informerFor(nodeResource).addEventHandler({
      onAdd: (node) => snapshot.setNode(node),
      onUpdate: (node) => snapshot.setNode(node),
      onDelete: (node) => snapshot.removeNode(node.metadata.name),
    });
    this.#sources.follow(snapshot);
  }

  #heard(event: ClusterEvent): void {
    this.#context.enqueue([...this.#waiting.heard(event, this.#snapshot), ...this.#bindings.keys]);
  }

  #podSeen(pod: Pod, old?: Pod): void {
    const snapshot = this.#snapshot;
    snapshot.setPod(pod);
    const needsNode = this.#wanted.needsNode(pod);
    if (needsNode) this.#metrics.wants(objectKey(pod));
    const { uid } = pod.metadata;
    const nominated = pod.status?.nominatedNodeName;
    const known = snapshot.nominations.nodeOf(uid);
    // Another client has removed the nomination.
    if (!nominated && known !== undefined && known === old?.status?.nominatedNodeName)
      snapshot.endNomination(uid);
    else if ((known ?? nominated) && needsNode) snapshot.nominate(podInfo(pod), known ?? nominated ?? '');
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    if (this.#bindings.has(key)) return this.#bindings.proceed(key);
    const asked = this.#wanted.pending(key);
    if (!asked) return undefined;
    const rests = await this.#rest(key, asked);
    if (rests) return rests;
    await this.#myTurn();
    const pod = this.#wanted.pending(key);
    if (!pod) return undefined;
    this.#metrics.attempt(key);
    const snapshot = this.#snapshot;
    const nominated = snapshot.nominations.nodeOf(pod.metadata.uid);
    const known = nominated === undefined ? this.#failures.get(pod, snapshot.generation) : undefined;
    const decision = known?.decision ?? inChildSpanNow('decide', () => this.#decide(pod, nominated));
    if (decision.kind === 'node') return this.#bindings.begin(key, pod, decision.node);
    const failure = known ?? this.#failures.add(pod, decision, snapshot.generation, snapshot.nodes.length);
    await this.#unschedulable.wait(key, pod, failure);
    return undefined;
  }

  /**
   * Handles a pod that has not changed, or whose back-off has not passed: its explanation is written again if
   * necessary. Returns undefined if the pod must be evaluated.
   */
  async #rest(key: ObjectKey, pod: Pod): Promise<ReconcileResult | undefined> {
    const entry = this.#waiting.get(key);
    if (!entry || !asksTheSame(entry.info.pod, pod)) return undefined;
    const left = entry.notBefore - this.#context.clock.monotonic();
    if (entry.awake && left <= 0) return undefined;
    await this.#writes.writeReason(
      pod,
      entry.explanation,
      this.#snapshot.nominations.nodeOf(pod.metadata.uid),
    );
    return entry.awake ? { requeueAfter: left } : {};
  }

  /** Decides on a pod. A chosen node is already assumed when this returns; nothing is awaited in between. */
  #decide(pod: Pod, nominated: string | undefined): Decision {
    const { clock, random } = this.#context;
    const begun = clock.monotonic();
    const decision = scheduleOne(pod, this.#snapshot, {
      ...{ policy: this.#policy, plugins: this.#plugins, random, nominated },
      lastNode: this.#lastNode,
      begin: this.#begin,
      budgets: this.#sources.budgets,
    });
    this.#metrics.decided((clock.monotonic() - begun) / 1000);
    if (decision.kind === 'node') {
      this.#lastNode = decision.node;
      this.#begin = (this.#begin + decision.lookedAt) % Math.max(1, this.#snapshot.nodes.length);
      this.#snapshot.assume(pod, decision.node);
    }
    return decision;
  }
}
