/** A volume as it is given to an agent. Pure. */
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { stuckReason } from '../../api/core/v1/volume-chores.ts';
import { nodeLabel } from '../../api/core/v1/volume-recycling.ts';

/** That of another agent does not hold for the next; undefined where nothing is said. */
export function withoutOutcome(volume: PersistentVolume): PersistentVolume | undefined {
  if (volume.status?.reason !== stuckReason) return undefined;
  const { reason: _, message: __, ...status } = volume.status;
  return { ...volume, status };
}

export function assigned(volume: PersistentVolume, node: string): PersistentVolume {
  const { metadata } = volume;
  return { ...volume, metadata: { ...metadata, labels: { ...metadata.labels, [nodeLabel]: node } } };
}
