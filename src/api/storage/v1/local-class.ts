/** The StorageClass of directories on nodes, which is the default class of claims. */
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { localProvisioner } from '../../core/v1/volume/local-volumes.ts';
import type { FixedObject } from '../../fixed-object.ts';
import { defaultClassAnnotation, storageClassResource } from './storage-class.ts';
import type { StorageClass } from './types.gen.ts';

/**
 * Another class can be made the default: this one is not restored after a change, only recreated after a
 * deletion.
 */
export const localStorageClass: FixedObject<StorageClass> = {
  ref: storageClassResource,
  draft: {
    apiVersion: apiVersionOf(storageClassResource),
    kind: 'StorageClass',
    metadata: { name: 'local', annotations: { [defaultClassAnnotation]: 'true' } },
    provisioner: localProvisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  },
};
