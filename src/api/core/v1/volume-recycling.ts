/** Volumes that others are to have next (reclaim policy Recycle): the agent of a node empties them before. Pure. */
import type { PersistentVolume } from './types.gen.ts';

/** On a volume: the node whose agent looks after it. While an agent empties a volume, nobody gets it. */
export const nodeLabel = 'minik8s.io/node';

export const nodeOf = ({ metadata }: PersistentVolume): string | undefined => metadata.labels?.[nodeLabel];

/** Upstream recycles volumes of these two kinds as well. */
export const canBeEmptied = ({ spec }: PersistentVolume) =>
  spec.hostPath !== undefined || spec.nfs !== undefined;

/** Its claim has gone. */
export const isToBeEmptied = (volume: PersistentVolume) =>
  volume.spec.persistentVolumeReclaimPolicy === 'Recycle' &&
  canBeEmptied(volume) &&
  volume.metadata.deletionTimestamp === undefined &&
  (volume.status?.phase === 'Released' || volume.status?.phase === 'Failed');

/** An agent may be about it at any moment. */
export const isBeingEmptied = (volume: PersistentVolume) =>
  nodeOf(volume) !== undefined && isToBeEmptied(volume);
