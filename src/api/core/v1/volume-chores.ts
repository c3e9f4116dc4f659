/**
 * What the agents of nodes do with volumes that nobody uses any more: folders that this server has made are removed, and volumes that
 * others are to have next (reclaim policy Recycle) are emptied. Which agent does it, and how it went, stands on the volume. Pure.
 */
import { isOwnProvisioner } from './local-volumes.ts';
import type { PersistentVolume } from './types.gen.ts';
import { provisionedBy } from './volume-binding.ts';
import { isToBeEmptied, nodeLabel, nodeOf } from './volume-recycling.ts';

/** On a volume: its folder has to be removed before it is gone. */
export const folderFinalizer = 'minik8s.io/folder';

/** `status.reason` of a volume whose folder its agent has removed. */
export const removedReason = 'FolderRemoved';
/** Of one that its agent has emptied. */
export const emptiedReason = 'Emptied';
/** Of one with which its agent cannot do what it should; `status.message` says why, and it tries again. */
export const stuckReason = 'Stuck';

/** The one label selector by which an agent reads volumes. */
export const volumesOfNode = (node: string) => `${nodeLabel}=${node}`;

export const isOwn = ({ metadata }: PersistentVolume) =>
  isOwnProvisioner(metadata.annotations?.[provisionedBy]);

/** Whether the node's agent may look at the volume, and say how its work goes while it has some. */
export const isLookedAfterBy = (volume: PersistentVolume, node: string) =>
  nodeOf(volume) === node && (isOwn(volume) || volume.spec.persistentVolumeReclaimPolicy === 'Recycle');

/** `remove`: its folder; `empty`: all that is in it. */
export type Chore = 'remove' | 'empty';

/** What the node's agent has to do with the volume, if anything. */
export function choreOf(volume: PersistentVolume, node: string): Chore | undefined {
  if (!isLookedAfterBy(volume, node)) return undefined;
  if (isToBeRemoved(volume)) return 'remove';
  return isToBeEmptied(volume) && volume.status?.reason !== emptiedReason ? 'empty' : undefined;
}

/** Nobody uses it, and that it goes cannot be taken back. */
const isToBeRemoved = (volume: PersistentVolume) =>
  isOwn(volume) &&
  volume.metadata.deletionTimestamp !== undefined &&
  volume.metadata.finalizers?.includes(folderFinalizer) === true &&
  volume.spec.persistentVolumeReclaimPolicy === 'Delete' &&
  volume.status?.phase !== 'Bound' &&
  volume.status?.reason !== removedReason;
