/**
 * Indexes volumes by class and by claim, so that the volume binder and the scheduler need not scan all
 * volumes.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../api/core/v1/types.gen.ts';
import { claimKeyOf } from '../api/core/v1/volume/binding.ts';
import { className } from '../api/core/v1/volume/columns.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import type { Informer } from '../client/informer.ts';

const byClass = 'volumes by class';
const byClaim = 'volumes by claim';

const classesOf = (volume: PersistentVolume) => [className(volume)];
const claimsOf = (volume: PersistentVolume) => {
  const key = claimKeyOf(volume);
  return key === undefined ? [] : [key];
};

export interface VolumeIndex {
  /** Returns the volumes of the claim's class and the volumes reserved for the claim. */
  candidates(claim: PersistentVolumeClaim): readonly PersistentVolume[];
  ofClass(name: string): readonly PersistentVolume[];
  /** Returns the volumes reserved for the claim with that key. */
  ofClaim(key: ObjectKey): readonly PersistentVolume[];
}

/** Adds the indexes. Must be called before the informer starts. */
export function indexVolumes(informer: Informer<PersistentVolume>): VolumeIndex {
  informer.addIndex(byClass, classesOf);
  informer.addIndex(byClaim, claimsOf);
  const { lister } = informer;
  return {
    candidates: (claim) => [
      ...lister.byIndex(byClaim, objectKey(claim)),
      ...lister.byIndex(byClass, className(claim)),
    ],
    ofClass: (name) => lister.byIndex(byClass, name),
    ofClaim: (key) => lister.byIndex(byClaim, key),
  };
}
