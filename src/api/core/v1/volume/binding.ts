/**
 * The volumes that a claim can be bound to. The controller and the scheduler must agree on them (upstream:
 * component-helpers/storage/volume). Pure.
 */
import { matches, selectorFromLabelSelector } from '../../../../apimachinery/labels.ts';
import type { ObjectMeta } from '../../../../apimachinery/meta.ts';
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityValue,
} from '../../../../apimachinery/quantity.ts';
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '../types.gen.ts';
import { className } from './columns.ts';
import { isBeingEmptied } from './recycling.ts';

/** Annotation of both sides: a controller has bound the object and may undo the binding. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller';
/** Annotation of a claim: both sides of the binding are written. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
/** Annotation of a volume: its provisioner. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
/** Annotation of a claim: node of the pod for which a volume is to be provisioned. */
export const selectedNode = 'volume.kubernetes.io/selected-node';
/** Annotations of a claim: provisioner of its volume; clients read both. */
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner';

export const claimProtection = 'kubernetes.io/pvc-protection';
export const volumeProtection = 'kubernetes.io/pv-protection';

/** Returns `namespace/name` of the claim that the volume is reserved for; undefined for a free volume. */
export const claimKeyOf = ({ spec: { claimRef } }: PersistentVolume): string | undefined =>
  claimRef && `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;

/**
 * Returns true if the volume is reserved for this claim; a reference without a uid is for any claim of the
 * name.
 */
export function isForClaim({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim) {
  if (claimRef?.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return !claimRef.uid || claimRef.uid === metadata.uid;
}

export const claimReference = ({ metadata }: PersistentVolumeClaim): ObjectReference => ({
  kind: 'PersistentVolumeClaim',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  apiVersion: 'v1',
  resourceVersion: metadata.resourceVersion,
});

/** Returns the volume bound to the claim; undefined if it is already bound to it. */
export function boundVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): PersistentVolume | undefined {
  const { metadata, spec } = volume;
  const isMine = isForClaim(volume, claim);
  if (isMine && spec.claimRef?.uid) return undefined;
  const annotations = isMine ? metadata.annotations : { ...metadata.annotations, [boundByController]: 'yes' };
  return {
    ...volume,
    metadata: { ...metadata, ...(annotations && { annotations }) },
    spec: { ...spec, claimRef: claimReference(claim) },
  };
}

const amount = (text: string | undefined) => parseQuantity(text ?? '0');
const sizes = new WeakMap<PersistentVolume, Quantity>();
/** Returns the size of a volume, parsed once for each version of the object. */
export function sizeOfVolume(volume: PersistentVolume): Quantity {
  const known = sizes.get(volume) ?? amount(volume.spec.capacity?.storage);
  sizes.set(volume, known);
  return known;
}
export const sizeOfClaim = ({ spec }: PersistentVolumeClaim) => amount(spec.resources.requests?.storage);

export const volumeModeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim) =>
  spec.volumeMode ?? 'Filesystem';

const hasModes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim) =>
  (claim.spec.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode));

/**
 * Returns the reason why a claim cannot have the volume that it names, in upstream's words; undefined for
 * none.
 */
export function volumeFault(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp)
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`;
  if (quantityValue(sizeOfVolume(volume)) < quantityValue(sizeOfClaim(claim)))
    return 'requested PV is too small';
  if (className(volume) !== className(claim)) return 'storageClassName does not match';
  if (volumeModeOf(volume) !== volumeModeOf(claim)) return 'incompatible volumeMode';
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode';
}

/** Returns a function that is true for free volumes that the claim can have, on any node. */
export function fitting(claim: PersistentVolumeClaim): (volume: PersistentVolume) => boolean {
  const ofClass = className(claim);
  const selector = claim.spec.selector && selectorFromLabelSelector(claim.spec.selector);
  const isLarge = largeEnough(claim);
  return (volume) =>
    isFree(volume) &&
    className(volume) === ofClass &&
    (!selector || matches(selector, volume.metadata.labels)) &&
    isLarge(volume);
}

const largeEnough = (claim: PersistentVolumeClaim) => {
  const wanted = sizeOfClaim(claim);
  return (volume: PersistentVolume) =>
    !volume.metadata.deletionTimestamp &&
    !isBeingEmptied(volume) &&
    volumeModeOf(volume) === volumeModeOf(claim) &&
    hasModes(volume, claim) &&
    compareQuantities(sizeOfVolume(volume), wanted) >= 0;
};

export const isFree = ({ spec, status }: PersistentVolume) => !spec.claimRef && status?.phase === 'Available';

/**
 * Sorts volumes: fewest access modes first, then smallest, then by name, so that the choice is deterministic.
 */
export const bestFirst = (volumes: readonly PersistentVolume[]): readonly PersistentVolume[] =>
  volumes
    .map((volume) => ({ volume, modes: new Set(volume.spec.accessModes).size, size: sizeOfVolume(volume) }))
    .sort((a, b) => a.modes - b.modes || compareQuantities(a.size, b.size) || byName(a.volume, b.volume))
    .map(({ volume }) => volume);

const byName = ({ metadata: a }: PersistentVolume, { metadata: b }: PersistentVolume) =>
  a.name < b.name ? -1 : 1;

/**
 * Returns the volumes that the claim can have, the best first. A volume that is reserved for the claim is the
 * only one. With `onlyReserved`, other volumes are left to the scheduler.
 */
export function rankVolumes(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  onlyReserved = false,
): readonly PersistentVolume[] {
  const isLarge = largeEnough(claim);
  const reserved = volumes.find((volume) => isForClaim(volume, claim) && isLarge(volume));
  if (reserved) return [reserved];
  return onlyReserved ? [] : bestFirst(volumes.filter(fitting(claim)));
}

/** Returns true if the binding is complete on the claim's side. */
export const isFullyBound = ({ metadata, spec }: PersistentVolumeClaim) =>
  Boolean(spec.volumeName) && metadata.annotations?.[bindCompleted] !== undefined;

type WithMeta = { readonly metadata: ObjectMeta };

export const withFinalizer = <T extends WithMeta>({ metadata, ...others }: T, name: string) =>
  ({
    ...others,
    metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), name] },
  }) as unknown as T;

export const withoutFinalizer = <T extends WithMeta>({ metadata, ...others }: T, name: string) => {
  const finalizers = (metadata.finalizers ?? []).filter((one) => one !== name);
  return { ...others, metadata: { ...metadata, finalizers } } as unknown as T;
};
