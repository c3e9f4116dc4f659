/**
 * Tasks of node agents on unused volumes: they remove directories that minik8s has created, and empty volumes
 * that are reused (reclaim policy Recycle). The volume names the agent and its result. Pure.
 */

import type { PersistentVolume } from '../types.gen.ts';
import { provisionedBy } from './binding.ts';
import { isOwnProvisioner } from './local-volumes.ts';
import { isToBeEmptied, nodeLabel, nodeOf } from './recycling.ts';

/** Finalizer of a volume whose directory must be removed first. */
export const folderFinalizer = 'minik8s.io/folder';

/** `status.reason` of a volume whose directory has been removed. */
export const removedReason = 'FolderRemoved';
/** `status.reason` of a volume that has been emptied. */
export const emptiedReason = 'Emptied';
/**
 * `status.reason` of a volume on which the task fails; `status.message` has the error, and the agent retries.
 */
export const stuckReason = 'Stuck';

/** Returns the label selector by which an agent lists volumes. */
export const volumesOfNode = (node: string) => `${nodeLabel}=${node}`;

export const isOwn = ({ metadata }: PersistentVolume) =>
  isOwnProvisioner(metadata.annotations?.[provisionedBy]);

/** Returns true if the node's agent may read the volume and update its status for a task. */
export const isLookedAfterBy = (volume: PersistentVolume, node: string) =>
  nodeOf(volume) === node && (isOwn(volume) || volume.spec.persistentVolumeReclaimPolicy === 'Recycle');

/** `remove` removes the volume's directory, `empty` removes its content. */
export type Chore = 'remove' | 'empty';

/** Returns the task of the node's agent on the volume; undefined for none. */
export function choreOf(volume: PersistentVolume, node: string): Chore | undefined {
  if (!isLookedAfterBy(volume, node)) return undefined;
  if (isToBeRemoved(volume)) return 'remove';
  return isToBeEmptied(volume) && volume.status?.reason !== emptiedReason ? 'empty' : undefined;
}

/** Returns true if the volume is unused and its deletion is final. */
const isToBeRemoved = (volume: PersistentVolume) =>
  isOwn(volume) &&
  volume.metadata.deletionTimestamp !== undefined &&
  volume.metadata.finalizers?.includes(folderFinalizer) === true &&
  volume.spec.persistentVolumeReclaimPolicy === 'Delete' &&
  volume.status?.phase !== 'Bound' &&
  volume.status?.reason !== removedReason;
