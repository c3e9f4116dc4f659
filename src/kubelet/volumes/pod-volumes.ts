/**
 * The volumes of the pods on this node. At each step of a pod's worker, each wanted volume is compared with
 * the volume that was made. Mounted volumes therefore follow their sources while the pod runs, and a failed
 * volume is retried.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container, Volume } from '../../api/core/v1/types.gen.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { ContainerConfigError } from '../environment/plan/container-config-error.ts';
import type { PodCertificates } from '../environment/pod-certificates.ts';
import type { PodSources } from '../environment/pod-sources.ts';
import type { Device, Mount } from '../runtime/container-config.ts';
import type { AccountTokens } from './account-tokens.ts';
import { currentFiles } from './atomic-files.ts';
import type { ClaimedVolumes } from './claimed-volumes.ts';
import { kindOf } from './kinds/index.ts';
import type { PodVolume, VolumeKind, VolumePlace, VolumeTools } from './kinds/volume-kind.ts';
import { volumePlugin } from './plan/volume-plugin.ts';
import { failedAttempt, type VolumeAttempt, type VolumeState, volumeState } from './plan/volume-state.ts';
import { containerMounts, mountedVolumes } from './plan/volumes.ts';
import type { PodFiles } from './pod-files.ts';
import { mountSubPath } from './sub-paths.ts';
import type { CountedVolume, VolumeCounts } from './volume-counts.ts';

export interface PodVolumesOptions extends Omit<VolumeTools, 'mountsOf'> {
  readonly sources: Pick<
    PodSources,
    'configMap' | 'forget' | 'observe' | 'secret' | 'trustBundles' | 'version'
  >;
  readonly tokens: Pick<AccountTokens, 'get' | 'forget'>;
  readonly certificates: Pick<PodCertificates, 'forget' | 'get' | 'observe' | 'version'>;
  readonly claims: Pick<ClaimedVolumes, 'find' | 'forget' | 'isShared' | 'known' | 'of'>;
  readonly files: Pick<PodFiles, 'directory' | 'mounts' | 'subPaths' | 'make'>;
  readonly events: EventRecorder;
  readonly counts: VolumeCounts;
  readonly log: Logger;
}

interface Wanted extends PodVolume {
  readonly kind: VolumeKind;
}

const atOnce = 16;

export class PodVolumes {
  readonly #options: PodVolumesOptions & VolumeTools;
  /** Last attempts by pod uid, then by the volume's name. */
  readonly #attempts = new Map<string, Map<string, VolumeAttempt>>();

  constructor(options: PodVolumesOptions) {
    this.#options = { ...options, mountsOf: (uid) => options.files.mounts(uid) };
  }

  /**
   * Returns the states of the volumes that the pod's containers mount; from here on their sources are
   * watched.
   */
  look(pod: Pod): readonly VolumeState[] {
    const { sources, certificates, clock } = this.#options;
    sources.observe(pod);
    certificates.observe(pod);
    const attempts = this.#attempts.get(pod.metadata.uid);
    return this.#wanted(pod).map((wanted) => {
      const { name } = wanted.volume;
      return volumeState(name, attempts?.get(name), this.#basisOf(wanted), clock.now());
    });
  }

  /**
   * Makes the volumes that are due. Never rejects: a failure is an event, and `look` returns when it is
   * retried.
   */
  async mount(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    const attempts = this.#attempts.get(uid) ?? new Map<string, VolumeAttempt>();
    this.#attempts.set(uid, attempts);
    const due = new Set(this.look(pod).flatMap(({ name, isDue }) => (isDue ? [name] : [])));
    // The number at once is limited: a pod may have thousands, and each has files open.
    const queue = new PQueue({ concurrency: atOnce });
    await queue.addAll(
      this.#wanted(pod)
        .filter(({ volume }) => due.has(volume.name))
        .map((wanted) => async () => {
          const { name } = wanted.volume;
          const end = this.#options.counts.start();
          const attempt = await this.#attempt(wanted, attempts.get(name));
          // The volume to which a claim is bound may be known only now.
          end(this.#pluginOf(pod, wanted.volume), attempt.failure === undefined);
          attempts.set(name, attempt);
        }),
    );
  }

  /**
   * Stops following the sources of a pod whose containers have all ended for good: its volumes stay as they
   * are.
   */
  rest(uid: string): void {
    const { claims, sources, tokens, certificates } = this.#options;
    claims.forget(uid);
    sources.forget(uid);
    tokens.forget(uid);
    certificates.forget(uid);
    this.#attempts.delete(uid);
  }

  /**
   * Returns the container's mounts; parts of volumes are created and mounted separately. Throws
   * ContainerConfigError, also for an invalid part. The cause of that is only logged on this machine, because
   * it would reveal the machine's files.
   */
  async containerMounts(
    pod: Pod,
    container: Container,
    env: ReadonlyMap<string, string>,
  ): Promise<readonly Mount[]> {
    const { files, exec, log } = this.#options;
    const { uid, name, namespace } = pod.metadata;
    const mounts: Mount[] = [];
    const places = await this.#places(pod, container);
    const placeOf = (volume: Volume) => places.get(volume.name) ?? this.#placeOf(pod, volume);
    for (const { part, ...mount } of containerMounts(pod, container, placeOf, env)) {
      if (!part) {
        mounts.push(mount);
        continue;
      }
      const target = join(files.subPaths(uid), part.volume, container.name, String(part.index));
      try {
        const volumePath = part.isAtomic ? await currentFiles(mount.source) : mount.source;
        await mountSubPath({ volumePath, subPath: part.subPath, target }, exec);
      } catch (cause) {
        const message = `failed to prepare subPath for volumeMount "${part.volume}" of container "${container.name}"`;
        log.warn(message, { pod: `${namespace}/${name}`, error: errorMessage(cause) });
        throw new ContainerConfigError(message, { cause });
      }
      mounts.push({ ...mount, source: target });
    }
    return mounts;
  }

  /**
   * Returns the path of a volume whose size is reported; undefined for paths of the machine, for devices, and
   * for a volume that does not exist yet.
   */
  measured(pod: Pod, volume: Volume): string | undefined {
    const kind = kindOf(volume);
    if (!kind) return undefined;
    const place = kind.place(volume, this.#options.files.directory(pod.metadata.uid));
    return kind.measured ? kind.measured(this.#options, { pod, volume, place }) : place.path;
  }

  /** Returns the volumes that the pod's containers mount, for the metrics. */
  counted(pod: Pod): readonly CountedVolume[] {
    const attempts = this.#attempts.get(pod.metadata.uid);
    return this.#wanted(pod).map(({ volume }) => ({
      plugin: this.#pluginOf(pod, volume),
      isMounted: attempts?.get(volume.name)?.isMounted ?? false,
    }));
  }

  #pluginOf(pod: Pod, volume: Volume): string {
    return volumePlugin(volume, this.#options.claims.known(pod, volume));
  }

  #wanted(pod: Pod): readonly Wanted[] {
    const mounted = mountedVolumes(pod);
    const directory = this.#options.files.directory(pod.metadata.uid);
    return (pod.spec.volumes ?? []).flatMap((volume) => {
      // A pod with a volume of an unsupported kind is held.
      const kind = mounted.has(volume.name) ? kindOf(volume) : undefined;
      return kind ? [{ kind, pod, volume, place: kind.place(volume, directory) }] : [];
    });
  }

  #basisOf({ kind, ...of }: Wanted): string {
    return kind.basis?.(this.#options, of) ?? '';
  }

  /** Returns the block devices of the container. Throws ContainerConfigError. */
  async containerDevices(pod: Pod, container: Container): Promise<readonly Device[]> {
    const places = await this.#places(pod, container);
    return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
      const place = places.get(name);
      if (!place) throw new ContainerConfigError(`volume "${name}" is not a block device`);
      return { source: place.path, target: devicePath, permissions: place.readOnly ? 'r' : 'mrw' };
    });
  }

  /** Returns the places of the container's volumes that cannot be derived from the pod alone. */
  async #places(pod: Pod, container: Container): Promise<ReadonlyMap<string, VolumePlace>> {
    const { volumeMounts = [], volumeDevices = [] } = container;
    const names = new Set([...volumeMounts, ...volumeDevices].map(({ name }) => name));
    const places = new Map<string, VolumePlace>();
    for (const { kind, ...of } of this.#wanted(pod)) {
      if (!kind.locate || !names.has(of.volume.name)) continue;
      try {
        places.set(of.volume.name, await kind.locate(this.#options, of));
      } catch (cause) {
        const message = `volume "${of.volume.name}": ${problemOf(cause)}`;
        throw new ContainerConfigError(message, { cause });
      }
    }
    return places;
  }

  #placeOf(pod: Pod, volume: Volume) {
    const kind = kindOf(volume);
    if (!kind) throw new ContainerConfigError(`volume "${volume.name}": its kind is not supported`);
    return kind.place(volume, this.#options.files.directory(pod.metadata.uid));
  }

  async #attempt(wanted: Wanted, before: VolumeAttempt | undefined): Promise<VolumeAttempt> {
    const { clock, events, files } = this.#options;
    const { kind, pod, volume, place } = wanted;
    const times: number[] = [];
    // The basis is taken before the steps run: a change in the meantime makes the volume due again.
    let basis = this.#basisOf(wanted);
    for (const { operation, run } of kind.steps) {
      try {
        await files.make(pod.metadata.uid);
        const renewAt = await run(this.#options, { pod, volume, place });
        if (renewAt !== undefined) times.push(renewAt);
      } catch (error) {
        const message = `${operation} failed for volume "${volume.name}" : ${problemOf(error)}`;
        events.event(pod, 'Warning', 'FailedMount', message);
        basis = this.#basisOf(wanted);
        const isMounted = before?.isMounted || ((await kind.isWhole?.(place)) ?? false);
        return failedAttempt(before, basis, isMounted, clock.now());
      }
    }
    const renewAt = times.length > 0 ? Math.min(...times) : undefined;
    return { basis, isMounted: true, renewAt, failure: undefined };
  }
}

/** Returns the error's message without the name of its class. */
const problemOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
