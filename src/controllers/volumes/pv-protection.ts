/**
 * Keeps a terminating volume while it is bound (upstream: pkg/controller/volume/pvprotection). Keys are
 * volumes.
 */

import { volumeProtection, withFinalizer, withoutFinalizer } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

export const pvProtectionRights: AccountRights = {
  kubernetes: [['get list watch update', 'core', 'persistentvolumes'], writeEvents],
};

export function pvProtectionController({ client, informers }: ControllerContext): ControllerDefinition {
  const volumes = informers.informerFor(persistentVolumeResource).lister;

  return {
    name: 'pv-protection',
    watches: [watched(persistentVolumeResource, (volume) => [objectKey(volume)])],
    async reconcile(name) {
      const volume = volumes.get(name);
      if (!volume) return undefined;
      const isProtected = volume.metadata.finalizers?.includes(volumeProtection) ?? false;
      const isDue = isTerminating(volume) ? isProtected && volume.status?.phase !== 'Bound' : !isProtected;
      if (!isDue) return undefined;
      const next = isTerminating(volume)
        ? withoutFinalizer(volume, volumeProtection)
        : withFinalizer(volume, volumeProtection);
      await ifPresent(tolerate(client.resource(persistentVolumeResource).update(next), isConflict));
      return undefined;
    },
  };
}
