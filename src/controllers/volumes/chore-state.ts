/** State of a volume when its task is assigned to a kubelet. Pure. */
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { stuckReason } from '../../api/core/v1/volume/chores.ts';
import { nodeLabel } from '../../api/core/v1/volume/recycling.ts';

/** Returns the volume without the outcome of another kubelet, or undefined if there is none to remove. */
export function withoutOutcome(volume: PersistentVolume): PersistentVolume | undefined {
  if (volume.status?.reason !== stuckReason) return undefined;
  const { reason: _, message: __, ...status } = volume.status;
  return { ...volume, status };
}

export function assigned(volume: PersistentVolume, node: string): PersistentVolume {
  const { metadata } = volume;
  return { ...volume, metadata: { ...metadata, labels: { ...metadata.labels, [nodeLabel]: node } } };
}
