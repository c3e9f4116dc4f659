/**
 * Binds pending pods to nodes. Invariants: decisions are made one after another on a snapshot that counts every
 * pod bound or about to be, so no node is overcommitted; bindings are sent in parallel. A pod that fits nowhere
 * waits until a node changes or room comes free: nothing is tried again by the clock. Of the pods that wait, those of
 * the highest priority are decided first; none takes the place of another yet.
 */

import { type Node, nodeResource } from '../api/core/v1/node.ts';
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { isPodTerminal } from '../api/core/v1/pod-conditions.ts';
import { priorityOf } from '../api/core/v1/priority.ts';
import { deepCopy } from '../apimachinery/equality.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { isNotFound } from '../apimachinery/status-error.ts';
import { rfc3339 } from '../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../controller-runtime/definition.ts';
import { explain, report, reportAnnotation } from './explain.ts';
import { type NodeRejections, type Policy, policies, scheduleOne } from './schedule-one.ts';
import { Snapshot } from './snapshot.ts';

export interface SchedulerOptions {
  readonly policy?: Policy;
  /** Only pods that ask for this scheduler are looked at. */
  readonly schedulerName?: string;
}

/** Throws when the policy is none. */
export function scheduler(options: SchedulerOptions = {}): ControllerFactory {
  const { policy = 'Default', schedulerName = 'default-scheduler' } = options;
  if (!policies.includes(policy))
    throw new Error(
      `scheduler policy ${JSON.stringify(policy)} does not exist; use one of ${policies.join(', ')}`,
    );
  return (context) => schedulerController(context, policy, schedulerName);
}

function schedulerController(
  context: ControllerContext,
  policy: Policy,
  schedulerName: string,
): ControllerDefinition {
  const { client, clock, events, informers, random } = context;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  const nodeInformer = informers.informerFor(nodeResource);
  const snapshot = new Snapshot();
  /** The pods that fit nowhere, with the reason they were told. */
  const waiting = new Map<ObjectKey, string>();
  /** What of each node matters to the filters, to tell a change from a heartbeat. */
  const fingerprints = new Map<ObjectKey, string>();
  let lastNode: string | undefined;

  podInformer.addEventHandler({
    onAdd: (pod) => snapshot.setPod(pod),
    onUpdate: (pod) => snapshot.setPod(pod),
    onDelete: (pod) => snapshot.removePod(pod.metadata.uid),
  });
  nodeInformer.addEventHandler({
    onAdd: (node) => snapshot.setNode(node),
    onUpdate: (node) => snapshot.setNode(node),
    onDelete: (node) => snapshot.removeNode(node.metadata.name),
  });

  const needsNode = (pod: Pod) =>
    !snapshot.isPlaced(pod.metadata.uid) &&
    pod.spec.schedulerName === schedulerName &&
    !pod.metadata.deletionTimestamp &&
    !pod.spec.schedulingGates?.length &&
    !isPodTerminal(pod);

  /** The pod; and when one has left room, all that wait for it. */
  const podKeys = (pod: Pod): readonly ObjectKey[] => [
    objectKey(pod),
    ...(snapshot.takeFreed() ? waiting.keys() : []),
  ];

  function nodeKeys(node: Node): readonly ObjectKey[] {
    const key = objectKey(node);
    const current = nodeInformer.lister.get(key);
    const fingerprint = current && fingerprintOf(current);
    if (fingerprints.get(key) === fingerprint) return [];
    if (fingerprint === undefined) fingerprints.delete(key);
    else fingerprints.set(key, fingerprint);
    return [...waiting.keys()];
  }

  async function reconcile(key: ObjectKey): Promise<undefined> {
    const pod = pods.get(key);
    if (!pod || !needsNode(pod)) {
      waiting.delete(key);
      return;
    }
    const decision = scheduleOne(pod, snapshot.nodes, { policy, random, lastNode });
    if (decision.kind === 'unschedulable') {
      await wait(key, pod, decision.nodes);
      return;
    }
    lastNode = decision.node;
    snapshot.assume(pod, decision.node);
    await bind(pod, decision.node);
  }

  async function bind(pod: Pod, node: string): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    try {
      await client.resource(podResource).createSubresource(name, namespace, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { kind: 'Node', name: node },
      });
    } catch (error) {
      snapshot.forget(uid);
      // A pod that went meanwhile needs no node; whatever else it was is worth another try.
      if (pods.get(objectKey(pod))?.metadata.uid !== uid) return;
      throw error;
    }
    events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
    if (pod.metadata.annotations?.[reportAnnotation]) await annotate(pod, null);
  }

  /** Says once why the pod waits, and again whenever the reason changes. */
  async function wait(key: ObjectKey, pod: Pod, nodes: readonly NodeRejections[]): Promise<void> {
    const message = explain(nodes);
    const lastMessage = waiting.get(key);
    waiting.set(key, message);
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (lastMessage !== message) events.event(pod, 'Warning', 'FailedScheduling', message);
    const details = report(nodes);
    const reported = pod.metadata.annotations?.[reportAnnotation] === details;
    const current = reported ? pod : await annotate(pod, details);
    if (!current || (condition?.status === 'False' && condition.message === message)) return;
    await reportCondition(current, message);
  }

  async function annotate(pod: Pod, value: string | null): Promise<Pod | undefined> {
    const { name, namespace = '' } = pod.metadata;
    try {
      const body = { metadata: { annotations: { [reportAnnotation]: value } } };
      return await client.resource(podResource).patch(name, namespace, 'merge', body);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function reportCondition(pod: Pod, message: string): Promise<void> {
    const conditions = pod.status?.conditions ?? [];
    const old = conditions.find(({ type }) => type === 'PodScheduled');
    const condition = {
      type: 'PodScheduled',
      status: 'False' as const,
      reason: 'Unschedulable',
      message,
      lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : rfc3339(clock.now()),
    };
    const next = deepCopy(pod);
    next.status = { ...next.status, conditions: [...conditions.filter((other) => other !== old), condition] };
    try {
      await client.resource(podResource).updateStatus(next);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return {
    name: 'scheduler',
    // Decisions never overlap, for nothing is awaited between reading the snapshot and assuming; bindings do.
    workers: 32,
    urgencyOf(key) {
      const pod = pods.get(key);
      return pod ? priorityOf(pod) : 0;
    },
    watches: [watched(podResource, podKeys), watched(nodeResource, nodeKeys)],
    reconcile,
  };
}

const fingerprintOf = ({ metadata, spec, status }: Node) =>
  JSON.stringify([
    metadata.labels,
    spec.taints,
    spec.unschedulable,
    status?.allocatable ?? status?.capacity,
    status?.conditions?.find((condition) => condition.type === 'Ready')?.status,
  ]);
