/**
 * Removes pods that have no kubelet to terminate them (k8s.io/kubernetes pkg/controller/podgc).
 *
 * - Pods bound to a node that no longer exists. The node must have been missing for a while and be unknown
 *   to the server too, so that no pod is lost to a lagging cache or to a node that is recreated at once
 *   (gcOrphaned).
 * - Terminating pods on a node that is not ready and that an administrator has tainted as out of service,
 *   which states that the machine is off (gcTerminating). No other sign distinguishes a dead machine from an
 *   unreachable one.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { taintKeys } from '../../api/core/v1/node/taints.ts';
import { isPodTerminal } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type AccountRights, read } from '../../api/rbac/v1/rule-rows.ts';
import { withCondition } from '../../apimachinery/conditions.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { doAll } from '../../controller-runtime/settle-all.ts';
import { readiness } from '../nodes/node-lifecycle-plan.ts';
import { nodeNameOf, podsByNode } from '../nodes/pods-by-node.ts';

export const podGcRights: AccountRights = {
  kubernetes: [
    ['list watch delete', 'core', 'pods'],
    [read, 'core', 'nodes'],
    ['patch', 'core', 'pods/status'],
  ],
  own: [['update', 'core', 'pods/status']],
};

/** Milliseconds that a node must be missing before its pods are deleted (upstream's quarantineTime). */
export const nodeQuarantine = 40_000;

export const podGcController = (context: ControllerContext): ControllerDefinition =>
  new PodGcController(context).definition();

class PodGcController {
  readonly #context: ControllerContext;
  readonly #nodes: Lister<Node>;
  readonly #pods: Lister<Pod>;
  readonly #missingSince = new Map<string, number>();

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
      name: 'pod-gc',
      workers: 1,
      watches: [
        watched(nodeResource, (node) => [node.metadata.name]),
        watched(podResource, (pod) => {
          const { nodeName } = pod.spec;
          const node = nodeName ? this.#nodes.get(nodeName) : undefined;
          return nodeName && (!node || (isTerminating(pod) && isOutOfService(node))) ? [nodeName] : [];
        }),
      ],
      reconcile: (name) => this.#reconcile(name),
    };
  }

  /** Reconciles one node; keys are names of nodes. */
  async #reconcile(name: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock, client } = this.#context;
    const bound = this.#pods.byIndex(podsByNode, name);
    const node = this.#nodes.get(name);
    if (bound.length === 0 || node) {
      this.#missingSince.delete(name);
      if (node && isOutOfService(node))
        await this.#removeAll(name, bound.filter(isTerminating), 'node is out of service');
      return undefined;
    }
    const now = clock.now();
    const since = this.#missingSince.get(name) ?? now;
    this.#missingSince.set(name, since);
    if (now - since < nodeQuarantine) return { requeueAfter: since + nodeQuarantine - now };
    if (await ifPresent(client.resource(nodeResource).get(name))) {
      this.#missingSince.delete(name);
      return undefined;
    }
    await this.#removeAll(name, bound, 'node no longer exists');
    return undefined;
  }

  async #removeAll(node: string, which: readonly Pod[], why: string): Promise<void> {
    const { clock, log } = this.#context;
    if (which.length === 0) return;
    await doAll(clock, which, (pod) => this.#remove(pod, why));
    log.info('removed pods that no node agent can stop', { node, why, pods: which.length });
  }

  /** Deletes the pod. Marks it Failed first, so that watchers see how it ended. */
  async #remove(pod: Pod, why: string): Promise<void> {
    const { client } = this.#context;
    const { name, namespace, uid } = pod.metadata;
    if (!isPodTerminal(pod))
      await ifPresent(client.resource(podResource).updateStatus(this.#failed(pod, why)));
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await ifPresent(client.resource(podResource).delete(name, namespace, options));
  }

  #failed(pod: Pod, why: string): Pod {
    const { clock } = this.#context;
    const next = deepCopy(pod);
    const conditions = withCondition(pod.status?.conditions ?? [], {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: `PodGC: ${why}`,
      lastTransitionTime: rfc3339(clock.now()),
    });
    next.status = { ...next.status, phase: 'Failed', conditions };
    return next;
  }
}

const isOutOfService = (node: Node) =>
  readiness(node) !== 'True' && node.spec.taints?.some(({ key }) => key === taintKeys.outOfService) === true;
