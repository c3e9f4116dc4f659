/** Access to volumes, claims and classes for plugins, independent of their source. */
import type { PersistentVolume, PersistentVolumeClaim } from '../api/core/v1/types.gen.ts';
import type { StorageClass } from '../api/storage/v1/types.gen.ts';

export interface VolumeSources {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  /** Returns the volumes that fit the claim. */
  volumesFor(claim: PersistentVolumeClaim): readonly PersistentVolume[];
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
}
