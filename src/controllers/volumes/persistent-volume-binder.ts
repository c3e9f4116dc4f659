/**
 * Binds claims to volumes and releases volumes whose claims are gone (upstream:
 * pkg/controller/volume/persistentvolume). Keys: `NAMESPACE/NAME` of a claim, `NAME` of a volume, and classes
 * of which a volume has become free. Both sides of a binding are written one after another, each against the
 * version that was read. A binding that was interrupted between the two writes is completed by the next
 * reconcile, and two claims can never both get the same volume.
 */
import { persistentVolumeResource } from '../../api/core/v1/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/persistent-volume-claim.ts';
import { podResource } from '../../api/core/v1/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import {
  bestFirst,
  betaStorageProvisioner,
  bindCompleted,
  boundByController,
  boundVolume,
  claimKeyOf,
  fitting,
  isForClaim,
  isFree,
  isFullyBound,
  storageProvisioner,
} from '../../api/core/v1/volume-binding.ts';
import { className, classNameOf } from '../../api/core/v1/volume-columns.ts';
import { defaultStorageClass, storageClassResource } from '../../api/storage/v1/storage-class.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { isTerminating, objectKey, splitKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { inTurns } from '../../controller-runtime/turns.ts';
import { indexVolumes } from '../../controller-runtime/volume-index.ts';
import { type ClaimStep, planClaim, type Told } from './claim-plan.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';
import { planVolume } from './volume-plan.ts';
import { WrittenVolumes } from './written-volumes.ts';

const byVolume = 'claims by volume';
const pendingByClass = 'pending claims by class';
/** Index value of claims without a class (not even the empty one); the default class may be set later. */
const unclassed = ' ';

/** Prefix of keys of classes with free volumes; no object name begins with it. */
const classPrefix = 'class ';
const classKey = (name: string) => `${classPrefix}${name}`;

/** Milliseconds until the retry after a conflict; the cache is newer by then. */
const afterConflict = 100;

export function persistentVolumeBinder({
  client,
  clock,
  events,
  informers,
}: ControllerContext): ControllerDefinition {
  const volumeInformer = informers.informerFor(persistentVolumeResource);
  const claimInformer = informers.informerFor(persistentVolumeClaimResource);
  const podInformer = informers.informerFor(podResource);
  const classes = informers.informerFor(storageClassResource).lister;
  const [volumes, claims, pods] = [volumeInformer.lister, claimInformer.lister, podInformer.lister];
  const index = indexVolumes(volumeInformer);
  const written = new WrittenVolumes();
  const nextPiece = inTurns(clock);
  volumeInformer.addEventHandler({ onDelete: ({ metadata }) => written.forget(metadata.name) });
  let enqueue: (keys: Iterable<string>) => void = () => {};
  claimInformer.addIndex(byVolume, ({ spec }) => (spec.volumeName ? [spec.volumeName] : []));
  claimInformer.addIndex(pendingByClass, (claim) =>
    isFullyBound(claim) ? [] : [classNameOf(claim) ?? unclassed],
  );
  podInformer.addIndex(podsByClaim, claimKeysOf);
  const claimsClient = client.resource(persistentVolumeClaimResource);
  const volumesClient = client.resource(persistentVolumeResource);

  const tell = (about: PersistentVolume | PersistentVolumeClaim, told: Told | undefined) => {
    if (told) events.event(about, told.type, told.reason, told.message);
  };

  const latestOf = (name: string) => {
    const cached = volumes.get(name);
    return cached && (written.latest(cached) ?? cached);
  };

  /**
   * Enqueues claims that might get a volume of the class: at most as many claims as volumes, each matched
   * with one, so that not every waiting claim is reconciled for each of many new volumes.
   */
  async function wake(wanted: string): Promise<void> {
    if (classes.get(wanted)?.volumeBindingMode === 'WaitForFirstConsumer') return;
    const waiting = [wanted, ...(wanted === '' ? [unclassed] : [])]
      .flatMap((name) => claims.byIndex(pendingByClass, name))
      .filter((claim) => !claim.spec.volumeName && !isTerminating(claim));
    if (waiting.length === 0) return;
    const free = bestFirst(
      index.ofClass(wanted).filter((volume) => isFree(volume) && written.latest(volume) === volume),
    );
    const taken = new Set<PersistentVolume>();
    for (const claim of waiting) {
      // Thousands of claims that fit nowhere may be compared with thousands of free volumes.
      await nextPiece();
      if (taken.size === free.length) break;
      const fits = fitting(claim);
      const volume = free.find((one) => !taken.has(one) && fits(one));
      if (!volume) continue;
      taken.add(volume);
      enqueue([objectKey(claim)]);
    }
  }

  async function reconcileClaim(key: string): Promise<void> {
    const claim = claims.get(key);
    if (!claim || (isTerminating(claim) && !isFullyBound(claim))) return;
    const classed = await withDefaultClass(claim);
    const { spec } = classed;
    const step = planClaim(classed, {
      named: spec.volumeName ? latestOf(spec.volumeName) : undefined,
      volumes: index.candidates(classed).flatMap((volume) => written.latest(volume) ?? []),
      storageClass: classes.get(className(classed)),
      waitingPods: pods
        .byIndex(podsByClaim, key)
        .filter((pod) => !pod.spec.nodeName && !isTerminating(pod))
        .map(({ metadata }) => metadata.name),
    });
    await carryOut(classed, step);
  }

  /** Returns the claim with the default class, if it was created before there was a default class. */
  async function withDefaultClass(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    if (classNameOf(claim) !== undefined || claim.spec.volumeName) return claim;
    const found = defaultStorageClass(classes.list());
    if (!found) return claim;
    const spec = { ...claim.spec, storageClassName: found.metadata.name };
    return claimsClient.update({ ...claim, spec });
  }

  async function carryOut(claim: PersistentVolumeClaim, step: ClaimStep): Promise<void> {
    switch (step.kind) {
      case 'none':
        return;
      case 'bind':
        return bind(claim, step.volume);
      case 'lost':
        if (claim.status?.phase !== 'Lost') {
          await setClaimPhase(claim, 'Lost', undefined);
          tell(claim, step.told);
        }
        return;
      case 'provision': {
        const { annotations } = claim.metadata;
        tell(claim, step.told);
        if (annotations?.[storageProvisioner] !== step.provisioner)
          await claimsClient.update(
            annotated(claim, {
              [storageProvisioner]: step.provisioner,
              [betaStorageProvisioner]: step.provisioner,
            }),
          );
        return;
      }
      case 'pending':
        tell(claim, step.told);
        await setClaimPhase(claim, 'Pending', undefined);
    }
  }

  async function bind(claim: PersistentVolumeClaim, found: PersistentVolume): Promise<void> {
    const wanted = boundVolume(found, claim);
    const volume = await written.hold(found.metadata.name, async () => {
      const claimed = wanted ? await volumesClient.update(wanted) : found;
      return setVolumePhase(claimed, 'Bound', undefined);
    });
    const added = {
      ...(!claim.spec.volumeName && { [boundByController]: 'yes' }),
      [bindCompleted]: 'yes',
    };
    const isWritten = claim.spec.volumeName && claim.metadata.annotations?.[bindCompleted] !== undefined;
    const bound = isWritten
      ? claim
      : await claimsClient.update({
          ...annotated(claim, added),
          spec: { ...claim.spec, volumeName: volume.metadata.name },
        });
    await setClaimPhase(bound, 'Bound', volume);
  }

  async function setVolumePhase(
    volume: PersistentVolume,
    phase: string,
    message: string | undefined,
  ): Promise<PersistentVolume> {
    if (volume.status?.phase === phase && (volume.status.message ?? '') === (message ?? '')) return volume;
    const { message: _, reason: __, ...status } = { phase, ...volume.status };
    return volumesClient.updateStatus({
      ...volume,
      status: { ...status, phase, ...(message && { message }) },
    });
  }

  /**
   * Writes the phase of a claim. The capacity of a bound claim is not overwritten, because it changes by
   * expansion.
   */
  async function setClaimPhase(
    claim: PersistentVolumeClaim,
    phase: string,
    volume: PersistentVolume | undefined,
  ): Promise<void> {
    const { accessModes: _, capacity, ...status } = { ...claim.status };
    const known = claim.status?.phase === phase ? capacity : undefined;
    const next = {
      ...status,
      phase,
      ...(volume && { accessModes: volume.spec.accessModes, capacity: known ?? volume.spec.capacity }),
    };
    if (!deepEqual(next, claim.status)) await claimsClient.updateStatus({ ...claim, status: next });
  }

  async function reconcileVolume(name: string): Promise<void> {
    const volume = volumes.get(name);
    if (!volume) return;
    const step = planVolume(volume, await claimOf(volume));
    switch (step.kind) {
      case 'none':
        return;
      case 'unbind':
        await volumesClient.update(step.volume);
        return;
      case 'phase':
        await setVolumePhase(volume, step.phase, step.message);
        tell(volume, step.told);
        return;
      case 'tell': {
        tell(volume, step.told);
        const claim = claims.get(claimKeyOf(volume) ?? '');
        if (claim) tell(claim, step.toldClaim);
      }
    }
  }

  /**
   * Returns the claim of a volume. Its absence is confirmed by the server, so that a lagging cache never
   * causes the loss of data.
   */
  async function claimOf(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const { claimRef } = volume.spec;
    if (!claimRef?.uid) return undefined;
    const cached = claims.get(claimKeyOf(volume) ?? '');
    if (cached && isForClaim(volume, cached)) return cached;
    const found = await ifPresent(claimsClient.get(claimRef.name ?? '', claimRef.namespace));
    return found && isForClaim(volume, found) ? found : undefined;
  }

  /** Returns the pending claims of a class. */
  const pendingOf = (wanted: string) => claims.byIndex(pendingByClass, wanted).map(objectKey);

  return {
    name: 'persistent-volume-binder',
    watches: [
      watched(persistentVolumeClaimResource, (claim) => [
        objectKey(claim),
        ...(claim.spec.volumeName ? [claim.spec.volumeName] : []),
        // The claim may have been counted among those that wait for a volume.
        ...(isFullyBound(claim) ? [classKey(className(claim))] : []),
        ...index.ofClaim(objectKey(claim)).map(objectKey),
      ]),
      watched(persistentVolumeResource, (volume) => {
        const { name } = volume.metadata;
        const own = claimKeyOf(volume);
        const free = own === undefined && volume.status?.phase === 'Available';
        const others = own === undefined ? [] : [own];
        return [
          name,
          ...others,
          ...(free ? [classKey(className(volume))] : []),
          ...claims.byIndex(byVolume, name).map(objectKey),
        ];
      }),
      watched(storageClassResource, ({ metadata }) => [...pendingOf(metadata.name), ...pendingOf(unclassed)]),
    ],
    onAttach(add) {
      enqueue = add;
    },
    async reconcile(key) {
      try {
        if (key.startsWith(classPrefix)) await wake(key.slice(classPrefix.length));
        else await ifPresent(splitKey(key).namespace === '' ? reconcileVolume(key) : reconcileClaim(key));
      } catch (error) {
        if (!isConflict(error)) throw error;
        return { requeueAfter: afterConflict };
      }
      return undefined;
    },
  };
}

function annotated<T extends PersistentVolumeClaim>(object: T, added: Readonly<Record<string, string>>): T {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } };
}
