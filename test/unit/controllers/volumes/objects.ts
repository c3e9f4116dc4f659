/** Volumes and claims as the server would hold them. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import type { StorageClass } from '../../../../src/api/storage/v1/types.gen.ts';
import type { ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import { meta } from '../objects.ts';

interface Over<Spec, Status> {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<Spec>;
  readonly status?: Partial<Status>;
}

export function volume(
  name: string,
  over: Over<PersistentVolume['spec'], NonNullable<PersistentVolume['status']>> = {},
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: meta(name, { namespace: undefined, ...over.metadata }),
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      hostPath: { path: `/data/${name}`, type: '' },
      ...over.spec,
    },
    status: { phase: 'Available', ...over.status },
  };
}

export function claim(
  name: string,
  over: Over<PersistentVolumeClaim['spec'], NonNullable<PersistentVolumeClaim['status']>> = {},
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: meta(name, over.metadata),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      volumeMode: 'Filesystem',
      ...over.spec,
    },
    status: { phase: 'Pending', ...over.status },
  };
}

export const referenceTo = (name: string, uid: string | undefined = `uid-${name}`) => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name },
  ...(uid && { uid }),
});

export function storageClass(name: string, over: Partial<StorageClass> = {}): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: meta(name, { namespace: undefined }),
    provisioner: 'example.com/disks',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...over,
  };
}
