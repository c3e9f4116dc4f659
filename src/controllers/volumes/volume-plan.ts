/** Plans the next step for a volume (upstream: pkg/controller/volume/persistentvolume syncVolume). Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { boundByController, provisionedBy, volumeModeOf } from '../../api/core/v1/volume/binding.ts';
import { canBeEmptied, isBeingEmptied } from '../../api/core/v1/volume/recycling.ts';
import type { VolumeEvent } from './claim-plan.ts';

export type VolumeStep =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'phase';
      readonly phase: string;
      readonly message?: string;
      readonly event?: VolumeEvent;
    }
  /** The claim is bound to another volume; this volume is available again. */
  | { readonly kind: 'unbind'; readonly volume: PersistentVolume }
  | { readonly kind: 'report'; readonly event: VolumeEvent; readonly claimEvent: VolumeEvent };

/**
 * Returns the step. `claim` is the claim of the volume's claimRef; undefined if no claim with that uid
 * exists.
 */
export function planVolume(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumeStep {
  const { claimRef } = volume.spec;
  // The volume's data may be deleted at any moment.
  if (isBeingEmptied(volume)) return { kind: 'none' };
  if (!claimRef?.uid) return phase(volume, 'Available');
  if (!claim) return planReleased(volume);
  if (!claim.spec.volumeName) return planUnfinished(volume, claim);
  if (claim.spec.volumeName === volume.metadata.name) return phase(volume, 'Bound');
  const made = volume.metadata.annotations?.[provisionedBy] !== undefined;
  if (made && volume.spec.persistentVolumeReclaimPolicy === 'Delete') return planReleased(volume);
  return { kind: 'unbind', volume: unbound(volume) };
}

const phase = ({ status }: PersistentVolume, wanted: string): VolumeStep =>
  status?.phase === wanted && !status.message ? { kind: 'none' } : { kind: 'phase', phase: wanted };

/** Plans the step of a half-finished binding. Its other half is written when the claim is reconciled. */
function planUnfinished(volume: PersistentVolume, claim: PersistentVolumeClaim): VolumeStep {
  if (volumeModeOf(volume) === volumeModeOf(claim)) return { kind: 'none' };
  const why = 'due to incompatible volumeMode.';
  const [name, claimName] = [volume.metadata.name, claim.metadata.name].map((one) => JSON.stringify(one));
  const mismatch = (message: string): VolumeEvent => ({ type: 'Warning', reason: 'VolumeMismatch', message });
  return {
    kind: 'report',
    event: mismatch(`Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${why}`),
    claimEvent: mismatch(`Cannot bind PersistentVolume ${name} to requested PersistentVolumeClaim ${why}`),
  };
}

/**
 * Returns the unbound volume: reserved for the same claim if a user reserved it, available to all if this
 * controller bound it.
 */
export function unbound(volume: PersistentVolume): PersistentVolume {
  const { metadata, spec } = volume;
  const { [boundByController]: byController, ...annotations } = metadata.annotations ?? {};
  const { claimRef, ...others } = spec;
  const { uid: _, resourceVersion: __, ...reserved } = claimRef ?? {};
  return byController === undefined
    ? { ...volume, spec: { ...others, claimRef: reserved } }
    : { ...volume, metadata: { ...metadata, annotations }, spec: others };
}

/** Plans the step of a released volume. A failure is kept, so that it remains visible. */
function planReleased(volume: PersistentVolume): VolumeStep {
  const { metadata, spec, status } = volume;
  const known = status?.phase === 'Released' || status?.phase === 'Failed';
  if (!known) return { kind: 'phase', phase: 'Released' };
  if (status.phase === 'Failed') return { kind: 'none' };
  const { persistentVolumeReclaimPolicy: policy } = spec;
  const fail = (reason: string, message: string): VolumeStep => ({
    ...{ kind: 'phase', phase: 'Failed', message },
    event: { type: 'Warning', reason, message },
  });
  // The provisioner of the volume deletes it.
  if (policy === 'Delete' && metadata.annotations?.[provisionedBy] === undefined)
    return fail(
      'VolumeFailedDelete',
      `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: no deletable volume plugin matched`,
    );
  if (policy === 'Recycle' && !canBeEmptied(volume))
    return fail('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  return { kind: 'none' };
}
