/**
 * Keeps a terminating VolumeAttributesClass while a claim or a volume names it (upstream:
 * pkg/controller/volume/vacprotection). Keys are classes.
 */
import { withFinalizer, withoutFinalizer } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import {
  attributesClassesOfClaim,
  attributesClassesOfVolume,
  attributesClassProtection as finalizer,
  volumeAttributesClassResource,
} from '../../api/storage/v1/volume-attributes-class.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

export const attributesClassProtectionRights: AccountRights = {
  kubernetes: [
    ['get list watch', 'core', 'persistentvolumeclaims'],
    ['get list watch', 'core', 'persistentvolumes'],
    ['get list watch update', 'storage.k8s.io', 'volumeattributesclasses'],
    writeEvents,
  ],
};

export function attributesClassProtectionController({
  client,
  informers,
}: ControllerContext): ControllerDefinition {
  const classes = informers.informerFor(volumeAttributesClassResource).lister;
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;
  const volumes = informers.informerFor(persistentVolumeResource).lister;
  const isUsed = (name: string) =>
    claims.list().some((claim) => attributesClassesOfClaim(claim).includes(name)) ||
    volumes.list().some((volume) => attributesClassesOfVolume(volume).includes(name));

  return {
    name: 'volumeattributesclass-protection',
    watches: [
      watched(volumeAttributesClassResource, (one) => [objectKey(one)]),
      watched(persistentVolumeClaimResource, attributesClassesOfClaim),
      watched(persistentVolumeResource, attributesClassesOfVolume),
    ],
    async reconcile(name) {
      const found = classes.get(name);
      if (!found) return undefined;
      const isProtected = found.metadata.finalizers?.includes(finalizer) ?? false;
      const isDue = isTerminating(found) ? isProtected && !isUsed(name) : !isProtected;
      if (!isDue) return undefined;
      const next = isTerminating(found)
        ? withoutFinalizer(found, finalizer)
        : withFinalizer(found, finalizer);
      await ifPresent(tolerate(client.resource(volumeAttributesClassResource).update(next), isConflict));
      return undefined;
    },
  };
}
