/** Plans the next step for a claim (upstream: pkg/controller/volume/persistentvolume syncClaim). Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import {
  bindCompleted,
  boundByController,
  isForClaim,
  rankVolumes,
  selectedNode,
  volumeFault,
} from '../../api/core/v1/volume/binding.ts';
import { className } from '../../api/core/v1/volume/columns.ts';
import { isBeingEmptied } from '../../api/core/v1/volume/recycling.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';

export interface VolumeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export type ClaimStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'bind'; readonly volume: PersistentVolume }
  | { readonly kind: 'pending'; readonly event?: VolumeEvent }
  | { readonly kind: 'lost'; readonly event: VolumeEvent }
  /** A provisioner must create a volume. */
  | { readonly kind: 'provision'; readonly provisioner: string; readonly event: VolumeEvent };

export interface ClaimWorld {
  /** Volume that the claim names, if it exists. */
  readonly named: PersistentVolume | undefined;
  /** Volumes of the claim's class, and volumes reserved for the claim. */
  readonly volumes: readonly PersistentVolume[];
  readonly storageClass: StorageClass | undefined;
  /** Names of pods that use the claim and have no node yet. */
  readonly waitingPods: readonly string[];
}

export function planClaim(claim: PersistentVolumeClaim, world: ClaimWorld): ClaimStep {
  if (claim.metadata.annotations?.[bindCompleted] !== undefined) return planBound(claim, world);
  return claim.spec.volumeName ? planNamed(claim, world) : planUnbound(claim, world);
}

const warning = (reason: string, message: string): VolumeEvent => ({ type: 'Warning', reason, message });
const normal = (reason: string, message: string): VolumeEvent => ({ type: 'Normal', reason, message });

function planBound(claim: PersistentVolumeClaim, world: ClaimWorld): ClaimStep {
  const { named } = world;
  const lost = (what: string): ClaimStep => ({
    kind: 'lost',
    event: warning('ClaimLost', `Bound claim has lost ${what}. Data on the volume is lost!`),
  });
  if (!claim.spec.volumeName) return lost('reference to PersistentVolume');
  if (!named) return lost('its PersistentVolume');
  const { claimRef } = named.spec;
  // A user may have set the status Bound; this must not give access to a volume that the claim may not use.
  const wasBound = claim.status?.phase === 'Bound' || claim.status?.phase === 'Lost';
  if (!claimRef && !wasBound) return planNamed(claim, world);
  if (!claimRef || claimRef.uid === claim.metadata.uid) return { kind: 'bind', volume: named };
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
  return { kind: 'lost', event: warning('ClaimMisbound', message) };
}

function planNamed(claim: PersistentVolumeClaim, { named }: ClaimWorld): ClaimStep {
  if (!named || isBeingEmptied(named)) return { kind: 'pending' };
  const name = JSON.stringify(named.metadata.name);
  if (!named.spec.claimRef) {
    const fault = volumeFault(named, claim);
    if (fault === undefined) return { kind: 'bind', volume: named };
    const message = `Cannot bind to requested volume ${name}: ${fault}`;
    return { kind: 'pending', event: warning('VolumeMismatch', message) };
  }
  if (isForClaim(named, claim)) return { kind: 'bind', volume: named };
  const message =
    claim.metadata.annotations?.[boundByController] === undefined
      ? `volume ${name} already bound to a different claim.`
      : `invalid binding of claim ${JSON.stringify(`${claim.metadata.namespace}/${claim.metadata.name}`)} to volume ${name}: volume already claimed by ${JSON.stringify(`${named.spec.claimRef.namespace}/${named.spec.claimRef.name}`)}`;
  return { kind: 'pending', event: warning('FailedBinding', message) };
}

function planUnbound(claim: PersistentVolumeClaim, world: ClaimWorld): ClaimStep {
  const { volumes, storageClass, waitingPods } = world;
  const delayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const [volume] = rankVolumes(claim, volumes, delayed);
  if (volume) return { kind: 'bind', volume };
  if (delayed && claim.metadata.annotations?.[selectedNode] === undefined)
    return { kind: 'pending', event: waitsForPod(waitingPods) };
  const wanted = className(claim);
  if (wanted === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    return { kind: 'pending', event: normal('FailedBinding', message) };
  }
  return planProvision(storageClass, wanted);
}

const noProvisioner = 'kubernetes.io/no-provisioner';

function planProvision(storageClass: StorageClass | undefined, wanted: string): ClaimStep {
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io ${JSON.stringify(wanted)} not found`;
    return { kind: 'pending', event: warning('ProvisioningFailed', message) };
  }
  const { provisioner } = storageClass;
  if (provisioner === noProvisioner) {
    const message = `no volume plugin matched name: ${noProvisioner}`;
    return { kind: 'pending', event: warning('ProvisioningFailed', message) };
  }
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return { kind: 'provision', provisioner, event: normal('ExternalProvisioning', message) };
}

function waitsForPod(pods: readonly string[]): VolumeEvent {
  if (pods.length === 0)
    return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  const which = pods.length === 1 ? `pod ${pods[0]}` : `pods ${pods.join(',')}`;
  return normal('WaitForPodScheduled', `waiting for ${which} to be scheduled`);
}
