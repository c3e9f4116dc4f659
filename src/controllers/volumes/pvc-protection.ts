/** A claim that is deleted stays until no pod uses it any more (upstream: pkg/controller/volume/pvcprotection). Keys are claims. */
import { persistentVolumeClaimResource } from '../../api/core/v1/persistent-volume-claim.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { claimNameOf, isOwnClaim } from '../../api/core/v1/pod-claims.ts';
import type { PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { claimProtection, withFinalizer, withoutFinalizer } from '../../api/core/v1/volume-binding.ts';
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

export function pvcProtectionController({ client, informers }: ControllerContext): ControllerDefinition {
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(podsByClaim, claimKeysOf);
  const live = new LiveClaimUsers(client);

  /** What the cache does not know the server is asked: a pod may have got its node a moment ago. */
  async function isUsed(claim: PersistentVolumeClaim): Promise<boolean> {
    if (pods.byIndex(podsByClaim, objectKey(claim)).some((pod) => uses(pod, claim))) return true;
    const users = await live.of(claim.metadata.namespace ?? '');
    return users.get(objectKey(claim))?.some((pod) => uses(pod, claim)) ?? false;
  }

  return {
    name: 'pvc-protection',
    // They share what the server is asked for.
    workers: 32,
    watches: [
      watched(persistentVolumeClaimResource, (claim) => [objectKey(claim)]),
      watched(podResource, claimKeysOf),
    ],
    async reconcile(key) {
      const claim = claims.get(key);
      if (!claim) return undefined;
      const isProtected = claim.metadata.finalizers?.includes(claimProtection) ?? false;
      const write = (next: PersistentVolumeClaim) =>
        ifPresent(tolerate(client.resource(persistentVolumeClaimResource).update(next), isConflict));
      if (!isTerminating(claim)) {
        // Admission gives it to every claim; one that lacks it is older.
        if (!isProtected) await write(withFinalizer(claim, claimProtection));
      } else if (isProtected && !(await isUsed(claim))) await write(withoutFinalizer(claim, claimProtection));
      return undefined;
    },
  };
}

/** A pod without a node cannot start with a claim that is being deleted, so it does not count. */
function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec.nodeName || pod.metadata.namespace !== claim.metadata.namespace) return false;
  return (pod.spec.volumes ?? []).some(
    (volume) =>
      claimNameOf(pod, volume) === claim.metadata.name &&
      (volume.persistentVolumeClaim !== undefined || (!isShutDown(pod) && isOwnClaim(pod, claim))),
  );
}

/** Its node is done with it, or is not asked: it may be that its claim has to go first. */
const isShutDown = ({ metadata }: Pod) =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
