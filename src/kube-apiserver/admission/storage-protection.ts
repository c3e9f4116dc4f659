/**
 * Adds finalizers that keep volumes, claims and classes of volume attributes while they are in use (upstream:
 * StorageObjectInUseProtection).
 */

import { claimProtection, volumeProtection } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import {
  attributesClassProtection,
  volumeAttributesClassResource,
} from '../../api/storage/v1/volume-attributes-class.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';

const keyOf = ({ group, plural }: ResourceRef) => `${plural}.${group}`;
const finalizers = new Map([
  [keyOf(persistentVolumeResource), volumeProtection],
  [keyOf(persistentVolumeClaimResource), claimProtection],
  [keyOf(volumeAttributesClassResource), attributesClassProtection],
]);

export const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate({ definition, object, operation, subresource }) {
    if (!object || operation !== 'create' || subresource !== '') return;
    const finalizer = finalizers.get(keyOf(definition));
    const { metadata } = object;
    if (finalizer === undefined || metadata.finalizers?.includes(finalizer)) return;
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};
