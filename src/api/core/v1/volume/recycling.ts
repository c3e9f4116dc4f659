/** Volumes that are reused (reclaim policy Recycle): a node's agent empties them before. Pure. */
import type { PersistentVolume } from '../types.gen.ts';

/** Label of a volume: the node whose agent manages it. While an agent empties a volume, it is not bound. */
export const nodeLabel = 'minik8s.io/node';

export const nodeOf = ({ metadata }: PersistentVolume): string | undefined => metadata.labels?.[nodeLabel];

/** Returns true for the two kinds of volumes that upstream recycles, too. */
export const canBeEmptied = ({ spec }: PersistentVolume) =>
  spec.hostPath !== undefined || spec.nfs !== undefined;

/** Returns true if the volume's claim has been deleted and the volume must be emptied. */
export const isToBeEmptied = (volume: PersistentVolume) =>
  volume.spec.persistentVolumeReclaimPolicy === 'Recycle' &&
  canBeEmptied(volume) &&
  volume.metadata.deletionTimestamp === undefined &&
  (volume.status?.phase === 'Released' || volume.status?.phase === 'Failed');

/** Returns true if an agent may be emptying the volume at any moment. */
export const isBeingEmptied = (volume: PersistentVolume) =>
  nodeOf(volume) !== undefined && isToBeEmptied(volume);
