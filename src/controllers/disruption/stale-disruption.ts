/**
 * A pod that was said to go and did not says so no longer after two minutes (upstream: pkg/controller/disruption,
 * stalePodDisruptionTimeout). What its node has said stays: a node may take longer.
 */
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { podCondition } from '../../api/core/v1/pod-conditions.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';

export const staleAfterMs = 120_000;

/** Milliseconds until it is stale, 0 when it is; undefined for a pod of which nothing is to be taken back. Pure. */
export function staleIn(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, 'DisruptionTarget');
  const phase = pod.status?.phase;
  if (isTerminating(pod) || phase === 'Succeeded' || phase === 'Failed') return undefined;
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now) || 0;
}

export function staleDisruptionController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const pods = informers.informerFor(podResource).lister;

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const pod = pods.get(key);
    const wait = pod && staleIn(pod, clock.now());
    if (!pod || wait === undefined) return undefined;
    if (wait > 0) return { requeueAfter: wait };
    const changed = deepCopy(pod);
    for (const condition of changed.status?.conditions ?? []) {
      if (condition.type !== 'DisruptionTarget') continue;
      condition.status = 'False';
      condition.lastTransitionTime = rfc3339(clock.now());
      delete condition.reason;
      delete condition.message;
    }
    await ifPresent(client.resource(podResource).updateStatus(changed));
    return undefined;
  }

  const keys = (pod: Pod) => (staleIn(pod, clock.now()) === undefined ? [] : [objectKey(pod)]);
  return { name: 'stale-disruption', watches: [watched(podResource, keys)], reconcile };
}
