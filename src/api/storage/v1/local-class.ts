/** The StorageClass of folders of nodes, which claims that name none are of. */
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { localProvisioner } from '../../core/v1/local-volumes.ts';
import type { FixedObject } from '../../fixed-objects.ts';
import { defaultClassAnnotation, storageClassResource } from './storage-class.ts';
import type { StorageClass } from './types.gen.ts';

/** Another can be the default: it is not restored when it was changed, only made again when it is gone. */
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
