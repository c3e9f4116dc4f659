/**
 * Binds pending pods to nodes. Invariants: decisions are made one after another on a snapshot that counts
 * every bound or assumed pod, so that no node is overcommitted; bindings are sent in parallel. An
 * unschedulable pod waits for an event that can help it; nothing is retried by time alone. Pending pods with
 * the highest priority are decided first, and may preempt others.
 */

import { nodeResource } from '../api/core/v1/node.ts';
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { isPodTerminal } from '../api/core/v1/pod-conditions.ts';
import { priorityOf } from '../api/core/v1/priority.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { isNotFoundOf } from '../apimachinery/status-error.ts';
import { Registry } from '../base/metrics/registry.ts';
import { inChildSpan, inChildSpanNow } from '../base/tracing/current-span.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../controller-runtime/definition.ts';
import { inTurns } from '../controller-runtime/turns.ts';
import type { ClusterEvent } from './cluster-events.ts';
import { clusterSources } from './cluster-sources.ts';
import { explainDecision } from './explain.ts';
import type { Plugin, Remedy } from './framework.ts';
import { type Failure, KnownFailures } from './known-failures.ts';
import { Permits } from './permits.ts';
import { plugins as defaultPlugins } from './plugins/index.ts';
import { podInfo } from './pod-info.ts';
import { podWrites } from './pod-writes.ts';
import { type Policy, policies } from './policies.ts';
import { PreBinds, type PreBound } from './pre-binds.ts';
import { type Decision, refusedBy, scheduleOne, type Unschedulable } from './schedule-one.ts';
import { type PendingPods, SchedulerMetrics } from './scheduler-metrics.ts';
import type { ScoringStrategy } from './scoring-strategy.ts';
import { Snapshot } from './snapshot.ts';
import { asksTheSame, WaitingPods } from './waiting-pods.ts';

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
  return (context) => schedulerController(context, { ...options, policy });
}

function schedulerController(
  context: ControllerContext,
  options: SchedulerOptions & { readonly policy: Policy },
): ControllerDefinition {
  const { clock, events, informers, random } = context;
  const { policy, scoring, schedulerName = 'default-scheduler' } = options;
  const plugins = options.plugins ?? defaultPlugins(scoring);
  const metrics = options.metrics ?? new SchedulerMetrics(new Registry(), clock);
  const writes = podWrites(context);
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  const nodeInformer = informers.informerFor(nodeResource);
  const sources = clusterSources(informers);
  const snapshot = new Snapshot(sources, heard);
  const waiting = new WaitingPods();
  const failures = new KnownFailures();
  const permits = new Permits(plugins);
  const preBinds = new PreBinds(context.client, plugins);
  const myTurn = inTurns(clock);
  let enqueue: (keys: Iterable<ObjectKey>) => void = () => {};
  let lastNode: string | undefined;
  let begin = 0;

  function heard(event: ClusterEvent): void {
    enqueue([...waiting.heard(event, snapshot), ...permits.keys]);
  }

  function podSeen(pod: Pod, old?: Pod): void {
    snapshot.setPod(pod);
    if (needsNode(pod)) metrics.wants(objectKey(pod));
    const { uid } = pod.metadata;
    const says = pod.status?.nominatedNodeName;
    const known = snapshot.nominations.nodeOf(uid);
    // Another client has removed the nomination.
    if (!says && known !== undefined && known === old?.status?.nominatedNodeName) snapshot.endNomination(uid);
    else if ((known ?? says) && needsNode(pod)) snapshot.nominate(podInfo(pod), known ?? says ?? '');
  }

  podInformer.addEventHandler({
    onAdd: (pod) => podSeen(pod),
    onUpdate: podSeen,
    onDelete: (pod) => {
      snapshot.removePod(pod.metadata.uid);
      metrics.forget(objectKey(pod));
    },
  });
  nodeInformer.addEventHandler({
    onAdd: (node) => snapshot.setNode(node),
    onUpdate: (node) => snapshot.setNode(node),
    onDelete: (node) => snapshot.removeNode(node.metadata.name),
  });
  sources.follow(snapshot);

  function needsNode(pod: Pod): boolean {
    return (
      !snapshot.isPlaced(pod.metadata.uid) &&
      pod.spec.schedulerName === schedulerName &&
      !pod.metadata.deletionTimestamp &&
      !pod.spec.schedulingGates?.length &&
      !isPodTerminal(pod)
    );
  }

  /** Returns the pod, or undefined if it is gone or has a node. */
  function pending(key: ObjectKey): Pod | undefined {
    const pod = pods.get(key);
    if (pod && needsNode(pod)) return pod;
    waiting.delete(key);
    return undefined;
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    if (permits.has(key)) return permitted(key);
    const asked = pending(key);
    if (!asked) return undefined;
    const rests = await rest(key, asked);
    if (rests) return rests;
    await myTurn();
    const pod = pending(key);
    if (!pod) return undefined;
    metrics.attempt(key);
    const nominated = snapshot.nominations.nodeOf(pod.metadata.uid);
    const known = nominated === undefined ? failures.get(pod, snapshot.generation) : undefined;
    const decision = known?.decision ?? inChildSpanNow('decide', () => decide(pod, nominated));
    if (decision.kind === 'unschedulable') {
      await wait(key, pod, known ?? failed(pod, decision));
      return undefined;
    }
    permits.ask(key, pod, decision.node, clock.monotonic());
    return permitted(key);
  }

  /**
   * Handles a pod that has not changed, or whose back-off has not passed: its explanation is written again if
   * necessary. Returns undefined if the pod must be evaluated.
   */
  async function rest(key: ObjectKey, pod: Pod): Promise<ReconcileResult | undefined> {
    const entry = waiting.get(key);
    if (!entry || !asksTheSame(entry.info.pod, pod)) return undefined;
    const left = entry.notBefore - clock.monotonic();
    if (entry.awake && left <= 0) return undefined;
    await writes.say(pod, entry.said, snapshot.nominations.nodeOf(pod.metadata.uid));
    return entry.awake ? { requeueAfter: left } : {};
  }

  /** Decides on a pod. A chosen node is already assumed when this returns; nothing is awaited in between. */
  function decide(pod: Pod, nominated: string | undefined): Decision {
    const { budgets } = sources;
    const begun = clock.monotonic();
    const decision = scheduleOne(pod, snapshot, {
      ...{ policy, random, plugins, lastNode, begin, nominated, budgets },
    });
    metrics.decided((clock.monotonic() - begun) / 1000);
    if (decision.kind === 'node') {
      lastNode = decision.node;
      begin = (begin + decision.lookedAt) % Math.max(1, snapshot.nodes.length);
      snapshot.assume(pod, decision.node);
    }
    return decision;
  }

  /** Binds a pod with a chosen node once every Permit allows it. */
  async function permitted(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { pod, answer } = permits.answer(key, snapshot, clock.monotonic());
    const { uid } = pod.metadata;
    if (answer.kind === 'wait' && pods.get(key)?.metadata.uid === uid) return { requeueAfter: answer.ms };
    const before = answer.kind === 'allowed' ? await preBound(key, pod, answer.node) : answer;
    if (before.kind === 'wait' && pods.get(key)?.metadata.uid === uid) return { requeueAfter: before.ms };
    permits.delete(key);
    preBinds.delete(key);
    if (answer.kind === 'allowed' && before.kind === 'done') {
      await bind(key, pod, answer.node);
      return undefined;
    }
    snapshot.forget(uid);
    if (before.kind === 'refused' && pending(key))
      await wait(key, pod, refusedOne(refusedBy(before.refused)));
    return undefined;
  }

  /** Runs PreBind. Nothing is written for a pod that is gone. */
  async function preBound(key: ObjectKey, pod: Pod, nodeName: string): Promise<PreBound> {
    const node = snapshot.node(nodeName);
    const isThere = pods.get(key)?.metadata.uid === pod.metadata.uid;
    if (!node || !isThere) return { kind: 'done' };
    return preBinds.step(key, podInfo(pod), node, snapshot, clock.monotonic());
  }

  async function bind(key: ObjectKey, pod: Pod, nodeName: string): Promise<void> {
    const { uid } = pod.metadata;
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
      snapshot.forget(uid);
      metrics.ended(key, 'error', schedulerName);
      // A pod that was deleted in the meantime needs no node, even if the cache still shows it. Other errors
      // are retried.
      if (pods.get(key)?.metadata.uid === uid && !isNotFoundOf(podResource, error)) throw error;
    }
  }

  /** Returns the failure of a Permit, which applies to this pod alone. */
  const refusedOne = (decision: Unschedulable): Failure => ({
    decision,
    said: explainDecision(decision, snapshot.nodes.length),
  });

  const failed = (pod: Pod, decision: Unschedulable) =>
    failures.add(pod, decision, snapshot.generation, snapshot.nodes.length);

  async function wait(key: ObjectKey, pod: Pod, { decision, said }: Failure): Promise<void> {
    metrics.ended(key, 'unschedulable', schedulerName);
    const before = waiting.get(key)?.said.message;
    const keeping = plugins.filter(({ name }) => decision.plugins.has(name));
    waiting.add(key, podInfo(pod), keeping, said, clock.monotonic());
    if (before !== said.message) events.event(pod, 'Warning', 'FailedScheduling', said.message);
    const { uid } = pod.metadata;
    const { remedy } = decision;
    const displaced = nominate(pod, remedy);
    await writes.say(pod, said, snapshot.nominations.nodeOf(uid));
    if (remedy?.kind !== 'preempt') return;
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

  /** Nominates the pod for the node. Returns the nominated pods of a lower priority that it displaces. */
  function nominate(pod: Pod, remedy: Remedy | undefined): readonly Pod[] {
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

  function pendingPods(): PendingPods {
    const { backoff, unschedulable } = waiting.counts(clock.monotonic());
    let [pendingCount, gated] = [0, 0];
    for (const pod of pods.list()) {
      if (pod.spec.nodeName || pod.spec.schedulerName !== schedulerName || isPodTerminal(pod)) continue;
      if (pod.spec.schedulingGates?.length) gated++;
      else pendingCount++;
    }
    return { active: Math.max(0, pendingCount - backoff - unschedulable), backoff, unschedulable, gated };
  }

  return {
    name: 'scheduler',
    // Decisions never overlap, because nothing is awaited between reading the snapshot and assuming. Bindings
    // do overlap.
    workers: 64,
    urgencyOf(key) {
      const pod = pods.get(key);
      return pod ? priorityOf(pod) : 0;
    },
    watches: [watched(podResource, (pod) => [objectKey(pod)])],
    onAttach(add) {
      enqueue = add;
      metrics.begins(pendingPods);
    },
    reconcile,
  };
}
