/**
 * The PersistentVolumes that the pods on this node use through their claims: read when a volume is mounted,
 * and remembered while the pod is here.
 */

import { claimNameOf, isOwnClaim } from '../../api/core/v1/pod/claims.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../../api/core/v1/types.gen.ts';
import { volumeModeOf } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import type { Client } from '../../client/client.ts';
import type { PodSources } from '../environment/pod-sources.ts';
import { VolumeError } from './plan/volume-error.ts';
import { devicesOf, mountsOf } from './plan/volumes.ts';

export interface ClaimedVolumesOptions {
  readonly client: Client;
  readonly sources: Pick<PodSources, 'claim'>;
}

export class ClaimedVolumes {
  readonly #options: ClaimedVolumesOptions;
  /** Volumes by pod uid, then by the pod's name for the volume. */
  readonly #found = new Map<string, Map<string, PersistentVolume>>();

  constructor(options: ClaimedVolumesOptions) {
    this.#options = options;
  }

  /**
   * Returns the volume as it was last found; reads it when it has not been found before. Rejects with
   * VolumeError while the pod cannot have one.
   */
  async of(pod: Pod, volume: Volume): Promise<PersistentVolume> {
    return this.known(pod, volume) ?? this.find(pod, volume);
  }

  /** Returns the volume as it was last found; undefined when it has not been found. */
  known(pod: Pod, volume: Volume): PersistentVolume | undefined {
    return this.#found.get(pod.metadata.uid)?.get(volume.name);
  }

  /** Reads the volume again and returns it. Rejects with VolumeError while the pod cannot have one. */
  async find(pod: Pod, volume: Volume): Promise<PersistentVolume> {
    const { uid } = pod.metadata;
    const known = this.#found.get(uid) ?? new Map<string, PersistentVolume>();
    const claim = await this.#claim(pod, volume);
    // A pod that already has the volume keeps it.
    if (claim.metadata.deletionTimestamp && !known.has(volume.name))
      throw new VolumeError(`can't start pod because PVC is being deleted`);
    const name = claim.spec.volumeName;
    if (claim.status?.phase !== 'Bound' || !name) throw new VolumeError('PVC is not bound');
    const found = await this.#volume(name, claim);
    checkMode(pod, volume, found);
    this.#found.set(uid, known.set(volume.name, found));
    return found;
  }

  /** Returns true when another pod on this node uses the volume. */
  isShared(name: string, uid: string): boolean {
    for (const [other, volumes] of this.#found)
      if (other !== uid) for (const { metadata } of volumes.values()) if (metadata.name === name) return true;
    return false;
  }

  forget(uid: string): void {
    this.#found.delete(uid);
  }

  async #claim(pod: Pod, volume: Volume): Promise<PersistentVolumeClaim> {
    const name = claimNameOf(pod, volume) ?? '';
    const { namespace = '' } = pod.metadata;
    const claim = await this.#options.sources.claim(namespace, name);
    if (!claim) throw new VolumeError(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    if (volume.ephemeral && !isOwnClaim(pod, claim))
      throw new VolumeError(
        `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
      );
    return claim;
  }

  async #volume(name: string, claim: PersistentVolumeClaim): Promise<PersistentVolume> {
    const found = await this.#options.client
      .resource(persistentVolumeResource)
      .get(name)
      .catch((error: unknown) => {
        if (isNotFound(error)) throw new VolumeError(`persistentvolume ${JSON.stringify(name)} not found`);
        throw error;
      });
    const { uid } = found.spec.claimRef ?? {};
    if (uid === claim.metadata.uid) return found;
    throw new VolumeError(
      `found PV object ${JSON.stringify(name)} but its pv.Spec.ClaimRef.UID ${JSON.stringify(uid ?? '')} does not point to claim.UID ${JSON.stringify(claim.metadata.uid)}`,
    );
  }
}

function checkMode(pod: Pod, { name }: Volume, found: PersistentVolume): void {
  const mode = volumeModeOf(found);
  const wrong = mode === 'Block' ? mountsOf(pod) : devicesOf(pod);
  if (!wrong.has(name)) return;
  const field = mode === 'Block' ? 'volumeMounts' : 'volumeDevices';
  throw new VolumeError(`volume ${name} has volumeMode ${mode}, but is specified in ${field}`);
}
