/**
 * Binds claims to volumes and releases volumes whose claims are gone (upstream:
 * pkg/controller/volume/persistentvolume). Keys: `NAMESPACE/NAME` of a claim, `NAME` of a volume, and classes
 * of which a volume has become free. Both sides of a binding are written one after another, each against the
 * version that was read. A binding that was interrupted between the two writes is completed by the next
 * reconcile, and two claims can never both get the same volume.
 */

import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
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
} from '../../api/core/v1/volume/binding.ts';
import { className, classNameOf } from '../../api/core/v1/volume/columns.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { defaultStorageClass, storageClassResource } from '../../api/storage/v1/storage-class.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { isTerminating, objectKey, splitKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { inTurns, type NextPiece } from '../../base/event-loop/pieces.ts';
import type { ResourceClient } from '../../client/client.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { indexVolumes, type VolumeIndex } from '../../controller-runtime/volume-index.ts';
import { type ClaimStep, planClaim, type VolumeEvent } from './claim-plan.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';
import { planVolume } from './volume-plan.ts';
import { WrittenVolumes } from './written-volumes.ts';

export const persistentVolumeBinderRights: AccountRights = {
  kubernetes: [
    ['get list watch create update delete', 'core', 'persistentvolumes'],
    ['update', 'core', 'persistentvolumes/status'],
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    ['update', 'core', 'persistentvolumeclaims/status'],
    ['get list watch create delete', 'core', 'pods'],
    [read, 'storage.k8s.io', 'storageclasses'],
    ['list watch', 'core', 'nodes'],
    writeEvents,
    ['watch', 'core', 'events'],
    ['get', 'core', 'services'],
  ],
};

const byVolume = 'claims by volume';
const pendingByClass = 'pending claims by class';
/** Index value of claims without a class (not even the empty one); the default class may be set later. */
const unclassed = ' ';

/** Prefix of keys of classes with free volumes; no object name begins with it. */
const classPrefix = 'class ';
const classKey = (name: string) => `${classPrefix}${name}`;

/** Milliseconds until the retry after a conflict; the cache is newer by then. */
const afterConflict = 100;

export const persistentVolumeBinder = (context: ControllerContext): ControllerDefinition =>
  new PersistentVolumeBinder(context).definition();

class PersistentVolumeBinder {
  readonly #context: ControllerContext;
  readonly #classes: Lister<StorageClass>;
  readonly #volumes: Lister<PersistentVolume>;
  readonly #claims: Lister<PersistentVolumeClaim>;
  readonly #pods: Lister<Pod>;
  readonly #index: VolumeIndex;
  readonly #written: WrittenVolumes;
  readonly #nextPiece: NextPiece;
  readonly #claimsClient: ResourceClient<PersistentVolumeClaim>;
  readonly #volumesClient: ResourceClient<PersistentVolume>;

  constructor(context: ControllerContext) {
    const { informers, clock, client } = context;
    this.#context = context;
    const volumeInformer = informers.informerFor(persistentVolumeResource);
    const claimInformer = informers.informerFor(persistentVolumeClaimResource);
    const podInformer = informers.informerFor(podResource);
    this.#classes = informers.informerFor(storageClassResource).lister;
    this.#volumes = volumeInformer.lister;
    this.#claims = claimInformer.lister;
    this.#pods = podInformer.lister;
    this.#index = indexVolumes(volumeInformer);
    this.#written = new WrittenVolumes();
    this.#nextPiece = inTurns(clock);
    volumeInformer.addEventHandler({ onDelete: ({ metadata }) => this.#written.forget(metadata.name) });
    claimInformer.addIndex(byVolume, ({ spec }) => (spec.volumeName ? [spec.volumeName] : []));
    claimInformer.addIndex(pendingByClass, (claim) =>
      isFullyBound(claim) ? [] : [classNameOf(claim) ?? unclassed],
    );
    podInformer.addIndex(podsByClaim, claimKeysOf);
    this.#claimsClient = client.resource(persistentVolumeClaimResource);
    this.#volumesClient = client.resource(persistentVolumeResource);
  }

  definition(): ControllerDefinition {
    return {
      name: 'persistent-volume-binder',
      watches: [
        watched(persistentVolumeClaimResource, (claim) => [
          objectKey(claim),
          ...(claim.spec.volumeName ? [claim.spec.volumeName] : []),
          // The claim may have been counted among those that wait for a volume.
          ...(isFullyBound(claim) ? [classKey(className(claim))] : []),
          ...this.#index.ofClaim(objectKey(claim)).map(objectKey),
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
            ...this.#claims.byIndex(byVolume, name).map(objectKey),
          ];
        }),
        watched(storageClassResource, ({ metadata }) => [
          ...this.#pendingOf(metadata.name),
          ...this.#pendingOf(unclassed),
        ]),
      ],
      reconcile: async (key) => {
        try {
          if (key.startsWith(classPrefix)) await this.#wake(key.slice(classPrefix.length));
          else
            await ifPresent(
              splitKey(key).namespace === '' ? this.#reconcileVolume(key) : this.#reconcileClaim(key),
            );
        } catch (error) {
          if (!isConflict(error)) throw error;
          return { requeueAfter: afterConflict };
        }
        return undefined;
      },
    };
  }

  #emit(about: PersistentVolume | PersistentVolumeClaim, event: VolumeEvent | undefined) {
    const { events } = this.#context;
    if (event) events.event(about, event.type, event.reason, event.message);
  }

  #latestOf(name: string) {
    const cached = this.#volumes.get(name);
    return cached && (this.#written.latest(cached) ?? cached);
  }

  /**
   * Enqueues claims that might get a volume of the class: at most as many claims as volumes, each matched
   * with one, so that not every waiting claim is reconciled for each of many new volumes.
   */
  async #wake(wanted: string): Promise<void> {
    if (this.#classes.get(wanted)?.volumeBindingMode === 'WaitForFirstConsumer') return;
    const waiting = [wanted, ...(wanted === '' ? [unclassed] : [])]
      .flatMap((name) => this.#claims.byIndex(pendingByClass, name))
      .filter((claim) => !claim.spec.volumeName && !isTerminating(claim));
    if (waiting.length === 0) return;
    const free = bestFirst(
      this.#index
        .ofClass(wanted)
        .filter((volume) => isFree(volume) && this.#written.latest(volume) === volume),
    );
    const taken = new Set<PersistentVolume>();
    for (const claim of waiting) {
      // Thousands of claims that fit nowhere may be compared with thousands of free volumes.
      await this.#nextPiece();
      if (taken.size === free.length) break;
      const fits = fitting(claim);
      const volume = free.find((one) => !taken.has(one) && fits(one));
      if (!volume) continue;
      taken.add(volume);
      this.#context.enqueue([objectKey(claim)]);
    }
  }

  async #reconcileClaim(key: string): Promise<void> {
    const claim = this.#claims.get(key);
    if (!claim || (isTerminating(claim) && !isFullyBound(claim))) return;
    const classed = await this.#withDefaultClass(claim);
    const { spec } = classed;
    const step = planClaim(classed, {
      named: spec.volumeName ? this.#latestOf(spec.volumeName) : undefined,
      volumes: this.#index.candidates(classed).flatMap((volume) => this.#written.latest(volume) ?? []),
      storageClass: this.#classes.get(className(classed)),
      waitingPods: this.#pods
        .byIndex(podsByClaim, key)
        .filter((pod) => !pod.spec.nodeName && !isTerminating(pod))
        .map(({ metadata }) => metadata.name),
    });
    await this.#carryOut(classed, step);
  }

  /** Returns the claim with the default class, if it was created before there was a default class. */
  async #withDefaultClass(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    if (classNameOf(claim) !== undefined || claim.spec.volumeName) return claim;
    const found = defaultStorageClass(this.#classes.list());
    if (!found) return claim;
    const spec = { ...claim.spec, storageClassName: found.metadata.name };
    return this.#claimsClient.update({ ...claim, spec });
  }

  async #carryOut(claim: PersistentVolumeClaim, step: ClaimStep): Promise<void> {
    switch (step.kind) {
      case 'none':
        return;
      case 'bind':
        return this.#bind(claim, step.volume);
      case 'lost':
        if (claim.status?.phase !== 'Lost') {
          await this.#setClaimPhase(claim, 'Lost', undefined);
          this.#emit(claim, step.event);
        }
        return;
      case 'provision': {
        const { annotations } = claim.metadata;
        this.#emit(claim, step.event);
        if (annotations?.[storageProvisioner] !== step.provisioner)
          await this.#claimsClient.update(
            annotated(claim, {
              [storageProvisioner]: step.provisioner,
              [betaStorageProvisioner]: step.provisioner,
            }),
          );
        return;
      }
      case 'pending':
        this.#emit(claim, step.event);
        await this.#setClaimPhase(claim, 'Pending', undefined);
    }
  }

  async #bind(claim: PersistentVolumeClaim, found: PersistentVolume): Promise<void> {
    const wanted = boundVolume(found, claim);
    const volume = await this.#written.hold(found.metadata.name, async () => {
      const claimed = wanted ? await this.#volumesClient.update(wanted) : found;
      return this.#setVolumePhase(claimed, 'Bound', undefined);
    });
    const added = {
      ...(!claim.spec.volumeName && { [boundByController]: 'yes' }),
      [bindCompleted]: 'yes',
    };
    const isWritten = claim.spec.volumeName && claim.metadata.annotations?.[bindCompleted] !== undefined;
    const bound = isWritten
      ? claim
      : await this.#claimsClient.update({
          ...annotated(claim, added),
          spec: { ...claim.spec, volumeName: volume.metadata.name },
        });
    await this.#setClaimPhase(bound, 'Bound', volume);
  }

  async #setVolumePhase(
    volume: PersistentVolume,
    phase: string,
    message: string | undefined,
  ): Promise<PersistentVolume> {
    if (volume.status?.phase === phase && (volume.status.message ?? '') === (message ?? '')) return volume;
    const { message: _, reason: __, ...status } = { phase, ...volume.status };
    return this.#volumesClient.updateStatus({
      ...volume,
      status: { ...status, phase, ...(message && { message }) },
    });
  }

  /**
   * Writes the phase of a claim. The capacity of a bound claim is not overwritten, because it changes by
   * expansion.
   */
  async #setClaimPhase(
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
    if (!deepEqual(next, claim.status)) await this.#claimsClient.updateStatus({ ...claim, status: next });
  }

  async #reconcileVolume(name: string): Promise<void> {
    const volume = this.#volumes.get(name);
    if (!volume) return;
    const step = planVolume(volume, await this.#claimOf(volume));
    switch (step.kind) {
      case 'none':
        return;
      case 'unbind':
        await this.#volumesClient.update(step.volume);
        return;
      case 'phase':
        await this.#setVolumePhase(volume, step.phase, step.message);
        this.#emit(volume, step.event);
        return;
      case 'report': {
        this.#emit(volume, step.event);
        const claim = this.#claims.get(claimKeyOf(volume) ?? '');
        if (claim) this.#emit(claim, step.claimEvent);
      }
    }
  }

  /**
   * Returns the claim of a volume. Its absence is confirmed by the server, so that a lagging cache never
   * causes the loss of data.
   */
  async #claimOf(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const { claimRef } = volume.spec;
    if (!claimRef?.uid) return undefined;
    const cached = this.#claims.get(claimKeyOf(volume) ?? '');
    if (cached && isForClaim(volume, cached)) return cached;
    const found = await ifPresent(this.#claimsClient.get(claimRef.name ?? '', claimRef.namespace));
    return found && isForClaim(volume, found) ? found : undefined;
  }

  /** Returns the pending claims of a class. */
  #pendingOf(wanted: string) {
    return this.#claims.byIndex(pendingByClass, wanted).map(objectKey);
  }
}

function annotated<T extends PersistentVolumeClaim>(object: T, added: Readonly<Record<string, string>>): T {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } };
}
