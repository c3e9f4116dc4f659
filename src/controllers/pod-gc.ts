/**
 * Removes pods bound to nodes that no longer exist: no agent is left that could end them. A node must have been
 * missing for a while and be unknown to the server too, so that neither a lagging cache nor a node that is
 * re-created at once costs any pod (k8s.io/kubernetes pkg/controller/podgc, gcOrphaned).
 */
import { nodeResource } from '../api/core/v1/node.ts';
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { isPodTerminal } from '../api/core/v1/pod-conditions.ts';
import { deepCopy } from '../apimachinery/equality.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import { rfc3339 } from '../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../controller-runtime/definition.ts';
import { withCondition } from './conditions.ts';
import { ifPresent } from './if-present.ts';

/** Milliseconds that a node must be missing before its pods go (upstream's quarantineTime). */
export const nodeQuarantine = 40_000;

/** Pods by the node they are bound to. */
const byNode = 'pod-gc.nodeName';

export function podGcController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers, log } = context;
  const nodes = informers.informerFor(nodeResource).lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(byNode, (pod) => (pod.spec.nodeName ? [pod.spec.nodeName] : []));
  const missingSince = new Map<string, number>();

  /** Keys are names of nodes. */
  async function reconcile(node: ObjectKey): Promise<ReconcileResult | undefined> {
    const stranded = pods.byIndex(byNode, node);
    if (stranded.length === 0 || nodes.get(node)) {
      missingSince.delete(node);
      return undefined;
    }
    const now = clock.now();
    const since = missingSince.get(node) ?? now;
    missingSince.set(node, since);
    if (now - since < nodeQuarantine) return { requeueAfter: since + nodeQuarantine - now };
    if (await ifPresent(client.resource(nodeResource).get(node))) {
      missingSince.delete(node);
      return undefined;
    }
    const results = await Promise.allSettled(stranded.map(remove));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    log.info('removed the pods of a node that is gone', { node, pods: stranded.length });
    return undefined;
  }

  /** Marks the pod Failed first, so that whoever watches learns how it ended. */
  async function remove(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    if (!isPodTerminal(pod)) await ifPresent(client.resource(podResource).updateStatus(failed(pod)));
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await ifPresent(client.resource(podResource).delete(name, namespace, options));
  }

  function failed(pod: Pod): Pod {
    const next = deepCopy(pod);
    const conditions = withCondition(pod.status?.conditions ?? [], {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: rfc3339(clock.now()),
    });
    next.status = { ...next.status, phase: 'Failed', conditions };
    return next;
  }

  return {
    name: 'pod-gc',
    workers: 1,
    watches: [
      watched(nodeResource, (node) => [node.metadata.name]),
      watched(podResource, (pod) =>
        pod.spec.nodeName && !nodes.get(pod.spec.nodeName) ? [pod.spec.nodeName] : [],
      ),
    ],
    reconcile,
  };
}
