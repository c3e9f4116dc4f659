/**
 * Adds finalizers that keep volumes and claims while they are in use (upstream:
 * StorageObjectInUseProtection).
 */

import { claimProtection, volumeProtection } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';

const finalizers = new Map([
  [persistentVolumeResource.plural, volumeProtection],
  [persistentVolumeClaimResource.plural, claimProtection],
]);

export const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate({ definition, object, operation, subresource }) {
    if (!object || definition.group !== '' || operation !== 'create' || subresource !== '') return;
    const finalizer = finalizers.get(definition.plural);
    const { metadata } = object;
    if (finalizer === undefined || metadata.finalizers?.includes(finalizer)) return;
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};
