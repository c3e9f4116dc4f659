/**
 * Deletes pods that do not tolerate a NoExecute taint of their node, or whose toleration time has passed. The
 * time starts when this process first sees the taints. After a restart of the control plane it begins anew,
 * because a node that came back in the meantime must be able to report. The deletion is an ordinary one. On
 * an unreachable node no kubelet confirms it, and the pod stays Terminating until the node is back or is
 * deleted; the pod's controller counts it as gone and replaces it at once.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { isPodActive } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { withCondition } from '../../apimachinery/conditions.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { nodeNameOf, podsByNode } from './pods-by-node.ts';
import { evictingTaints, minTolerationTime } from './taint-eviction-plan.ts';

export const taintEvictionRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'nodes'],
    ['get list watch delete', 'core', 'pods'],
    ['update patch', 'core', 'pods/status'],
    writeEvents,
  ],
};

interface Meeting {
  readonly uid: string;
  /** Time at which this pod and a taint of its node were first seen together. */
  readonly at: number;
}

export const taintEvictionController = (context: ControllerContext): ControllerDefinition =>
  new TaintEvictionController(context).definition();

class TaintEvictionController {
  readonly #context: ControllerContext;
  readonly #nodes: Lister<Node>;
  readonly #pods: Lister<Pod>;
  readonly #met = new Map<ObjectKey, Meeting>();

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#nodes = informers.informerFor(nodeResource).lister;
    const podInformer = informers.informerFor(podResource);
    this.#pods = podInformer.lister;
    podInformer.addIndex(podsByNode, nodeNameOf);
  }

  definition(): ControllerDefinition {
    return {
      name: 'taint-eviction',
      workers: 8,
      watches: [
        watched(podResource, (pod) =>
          pod.spec.nodeName || this.#met.has(objectKey(pod)) ? [objectKey(pod)] : [],
        ),
        watched(nodeResource, (node) =>
          evictingTaints(node.spec.taints).length > 0
            ? this.#pods.byIndex(podsByNode, node.metadata.name).map(objectKey)
            : [],
        ),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { client } = this.#context;
    const pod = this.#pods.get(key);
    const node = pod?.spec.nodeName && isPodActive(pod) ? this.#nodes.get(pod.spec.nodeName) : undefined;
    const left = pod && node ? this.#timeLeft(key, pod, node) : undefined;
    if (!pod || !node || left === undefined) return this.#cancel(key, pod);
    if (left > 0) return { requeueAfter: left };
    // The cache may be behind, in particular after this process was paused: the node may be back already.
    const current = await ifPresent(client.resource(nodeResource).get(node.metadata.name));
    if (!current || this.#timeLeft(key, pod, current) !== 0) return { requeueAfter: 1_000 };
    await this.#evict(key, pod);
    return undefined;
  }

  /** Forgets the deadline of a pod that may stay, has ended, or is gone. */
  #cancel(key: ObjectKey, pod: Pod | undefined): undefined {
    const { events } = this.#context;
    if (this.#met.delete(key) && pod && isPodActive(pod))
      events.event(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
  }

  /** Returns the milliseconds left, or undefined if the pod may stay. */
  #timeLeft(key: ObjectKey, pod: Pod, node: Node): number | undefined {
    const { clock } = this.#context;
    const allowed = minTolerationTime(pod.spec.tolerations, evictingTaints(node.spec.taints));
    if (allowed === undefined) return undefined;
    const { uid } = pod.metadata;
    const known = this.#met.get(key);
    const meeting = known?.uid === uid ? known : { uid, at: clock.now() };
    this.#met.set(key, meeting);
    return Math.max(0, meeting.at + allowed - clock.now());
  }

  /** Evicts the pod. The condition is written first, so that watchers of the deletion see the reason. */
  async #evict(key: ObjectKey, pod: Pod): Promise<void> {
    const { clock, client, events } = this.#context;
    const { name, namespace, uid } = pod.metadata;
    const next = deepCopy(pod);
    const conditions = withCondition(next.status?.conditions ?? [], {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: rfc3339(clock.now()),
    });
    next.status = { ...next.status, conditions };
    if (!(await ifPresent(client.resource(podResource).updateStatus(next)))) return;
    events.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
    await ifPresent(client.resource(podResource).delete(name, namespace, { preconditions: { uid } }));
  }
}
