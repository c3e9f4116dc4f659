/**
 * Resets the DisruptionTarget condition of a pod that was not deleted within two minutes (upstream:
 * pkg/controller/disruption, stalePodDisruptionTimeout). A condition set by the kubelet is kept, because a
 * node may take longer.
 */

import { isPodActive, podCondition } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';

export const staleDisruptionRights: AccountRights = {
  kubernetes: [['update patch', 'core', 'pods/status']],
};

export const staleAfterMs = 120_000;

/**
 * Returns the milliseconds until the condition is stale, 0 if it is, and undefined if the pod has no
 * condition to reset. Pure.
 */
export function staleIn(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, 'DisruptionTarget');
  if (!isPodActive(pod)) return undefined;
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now) || 0;
}

function withoutDisruption(pod: Pod, now: number): Pod {
  const changed = deepCopy(pod);
  for (const condition of changed.status?.conditions ?? []) {
    if (condition.type !== 'DisruptionTarget') continue;
    condition.status = 'False';
    condition.lastTransitionTime = rfc3339(now);
    delete condition.reason;
    delete condition.message;
  }
  return changed;
}

export function staleDisruptionController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const pods = informers.informerFor(podResource).lister;

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const pod = pods.get(key);
    const wait = pod && staleIn(pod, clock.now());
    if (!pod || wait === undefined) return undefined;
    if (wait > 0) return { requeueAfter: wait };
    await ifPresent(client.resource(podResource).updateStatus(withoutDisruption(pod, clock.now())));
    return undefined;
  }

  const keys = (pod: Pod) => (staleIn(pod, clock.now()) === undefined ? [] : [objectKey(pod)]);
  return { name: 'stale-disruption', watches: [watched(podResource, keys)], reconcile };
}
