/**
 * The volumes of the pods here: what each pod wants is compared with what was made, volume by volume, each time its worker looks.
 * So what is mounted follows its source while the pod runs, and one that fails is tried again by itself.
 */
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container, Volume } from '../../api/core/v1/types.gen.ts';
import { volumeModeOf } from '../../api/core/v1/volume-binding.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { ContainerConfigError } from '../environment/plan/container-config-error.ts';
import type { PodSources } from '../environment/pod-sources.ts';
import type { Device, Mount } from '../runtime/runtime.ts';
import type { AccountTokens } from './account-tokens.ts';
import { currentFiles } from './atomic-files.ts';
import type { ClaimedVolumes } from './claimed-volumes.ts';
import { kindOf } from './kinds/index.ts';
import { knownPlaceOfSource } from './kinds/persistent-source.ts';
import type { PodVolume, VolumeKind, VolumePlace, VolumeTools } from './kinds/volume-kind.ts';
import { volumePlugin } from './plan/volume-plugin.ts';
import { failedAttempt, type VolumeAttempt, type VolumeState, volumeState } from './plan/volume-state.ts';
import { containerMounts, mountedVolumes } from './plan/volumes.ts';
import type { PodFiles } from './pod-files.ts';
import { mountSubPath } from './sub-paths.ts';
import type { CountedVolume, VolumeCounts } from './volume-counts.ts';

export interface PodVolumesOptions extends Omit<VolumeTools, 'mountsOf'> {
  readonly sources: Pick<PodSources, 'configMap' | 'secret' | 'version' | 'observe' | 'forget'>;
  readonly tokens: Pick<AccountTokens, 'get' | 'forget'>;
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
  /** By pod, then by the volume's name. */
  readonly #attempts = new Map<string, Map<string, VolumeAttempt>>();

  constructor(options: PodVolumesOptions) {
    this.#options = { ...options, mountsOf: (uid) => options.files.mounts(uid) };
  }

  /** How the volumes that the pod's containers mount are now; from here on what they are made from is watched. */
  look(pod: Pod): readonly VolumeState[] {
    const { sources, clock } = this.#options;
    sources.observe(pod);
    const attempts = this.#attempts.get(pod.metadata.uid);
    return this.#wanted(pod).map((wanted) => {
      const { name } = wanted.volume;
      return volumeState(name, attempts?.get(name), this.#basisOf(wanted), clock.now());
    });
  }

  /** Does what is due. Never rejects: what failed is an event, and `look` tells when it is tried again. */
  async mount(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    const attempts = this.#attempts.get(uid) ?? new Map<string, VolumeAttempt>();
    this.#attempts.set(uid, attempts);
    const due = new Set(this.look(pod).flatMap(({ name, isDue }) => (isDue ? [name] : [])));
    // Not all at once: a pod may have thousands, and each has files open.
    const queue = new PQueue({ concurrency: atOnce });
    await queue.addAll(
      this.#wanted(pod)
        .filter(({ volume }) => due.has(volume.name))
        .map((wanted) => async () => {
          const { name } = wanted.volume;
          const end = this.#options.counts.start();
          const attempt = await this.#attempt(wanted, attempts.get(name));
          // Only now it may be known what a claim is bound to.
          end(this.#pluginOf(pod, wanted.volume), attempt.failure === undefined);
          attempts.set(name, attempt);
        }),
    );
  }

  /** Nothing of the pod runs any more, or will: its volumes stay as they are. */
  rest(uid: string): void {
    const { claims, sources, tokens } = this.#options;
    claims.forget(uid);
    sources.forget(uid);
    tokens.forget(uid);
    this.#attempts.delete(uid);
  }

  /**
   * The container's mounts, parts of volumes made and mounted by themselves. Throws ContainerConfigError, also for a part
   * that there cannot be. Why is for this machine's log alone: it would tell of the
   * machine's files.
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

  /** Where a volume lies whose size is told; undefined for paths of the machine's own, devices, and what is not there yet. */
  measured(pod: Pod, volume: Volume): string | undefined {
    const kind = kindOf(volume);
    if (!kind || volume.hostPath) return undefined;
    const place = kind.place(volume, this.#options.files.directory(pod.metadata.uid));
    if (!kind.locate) return place.path;
    if (volume.nfs) return join(this.#options.mountsOf(pod.metadata.uid), volume.name);
    const found = this.#options.claims.known(pod, volume);
    if (!found || found.spec.hostPath || volumeModeOf(found) === 'Block') return undefined;
    return knownPlaceOfSource(this.#options, { pod, volume, place }, found).path;
  }

  /** The volumes that the pod's containers mount, for who counts them. */
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
      // A pod with a volume of no kind is held.
      const kind = mounted.has(volume.name) ? kindOf(volume) : undefined;
      return kind ? [{ kind, pod, volume, place: kind.place(volume, directory) }] : [];
    });
  }

  #basisOf({ kind, ...of }: Wanted): string {
    return kind.basis?.(this.#options, of) ?? '';
  }

  /** The block devices that the container has as such. Throws ContainerConfigError. */
  async containerDevices(pod: Pod, container: Container): Promise<readonly Device[]> {
    const places = await this.#places(pod, container);
    return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
      const place = places.get(name);
      if (!place) throw new ContainerConfigError(`volume "${name}" is not a block device`);
      return { source: place.path, target: devicePath, permissions: place.readOnly ? 'r' : 'mrw' };
    });
  }

  /** Of the volumes of the container of which the pod itself does not say where they lie. */
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
    // Taken before: what changes while the steps are done makes it due again.
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

/** Without the name of the error's class. */
const problemOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
