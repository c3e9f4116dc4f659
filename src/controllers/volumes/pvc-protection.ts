/**
 * Keeps a terminating claim until no pod uses it (upstream: pkg/controller/volume/pvcprotection). Keys are
 * claims.
 */

import { claimNameOf, isOwnClaim } from '../../api/core/v1/pod/claims.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { claimProtection, withFinalizer, withoutFinalizer } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { LiveClaimUsers } from './claim-users.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';

export const pvcProtectionRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    [read, 'core', 'pods'],
    writeEvents,
  ],
};

export function pvcProtectionController({ client, informers }: ControllerContext): ControllerDefinition {
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(podsByClaim, claimKeysOf);
  const live = new LiveClaimUsers(client);

  /**
   * Returns true if a pod uses the claim. If the cache shows none, the pods are listed from the server: a pod
   * may just have been bound to a node.
   */
  async function isUsed(claim: PersistentVolumeClaim): Promise<boolean> {
    if (pods.byIndex(podsByClaim, objectKey(claim)).some((pod) => uses(pod, claim))) return true;
    const users = await live.of(claim.metadata.namespace ?? '');
    return users.get(objectKey(claim))?.some((pod) => uses(pod, claim)) ?? false;
  }

  return {
    name: 'pvc-protection',
    // Number of workers; they share the lists from the server.
    workers: 32,
    watches: [
      watched(persistentVolumeClaimResource, (claim) => [objectKey(claim)]),
      watched(podResource, claimKeysOf),
    ],
    async reconcile(key) {
      const claim = claims.get(key);
      const next = claim && (await changed(claim));
      if (next)
        await ifPresent(tolerate(client.resource(persistentVolumeClaimResource).update(next), isConflict));
      return undefined;
    },
  };

  /** Returns the claim with or without its protection, or undefined if nothing changes. */
  async function changed(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim | undefined> {
    const isProtected = claim.metadata.finalizers?.includes(claimProtection) ?? false;
    // Admission adds the finalizer to every claim; a claim without it is older.
    if (!isTerminating(claim)) return isProtected ? undefined : withFinalizer(claim, claimProtection);
    if (!isProtected || (await isUsed(claim))) return undefined;
    return withoutFinalizer(claim, claimProtection);
  }
}

/**
 * Returns true if the pod uses the claim. A pod without a node does not count, because it cannot start with a
 * terminating claim.
 */
function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec.nodeName || pod.metadata.namespace !== claim.metadata.namespace) return false;
  return (pod.spec.volumes ?? []).some(
    (volume) =>
      claimNameOf(pod, volume) === claim.metadata.name &&
      (volume.persistentVolumeClaim !== undefined || (!isShutDown(pod) && isOwnClaim(pod, claim))),
  );
}

/**
 * Returns true if the kubelet has finished with the pod, or is not involved; the pod's claim may have to be
 * deleted before the pod.
 */
const isShutDown = ({ metadata }: Pod) =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
