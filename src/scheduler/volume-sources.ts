/** What plugins ask about volumes: where claims and volumes come from is not their business. */
import type { PersistentVolume, PersistentVolumeClaim } from '../api/core/v1/types.gen.ts';
import type { StorageClass } from '../api/storage/v1/types.gen.ts';

export interface VolumeSources {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  /** Those that the claim might get. */
  volumesFor(claim: PersistentVolumeClaim): readonly PersistentVolume[];
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
}
