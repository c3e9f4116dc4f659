/**
 * Volumes whose files come from the API, written when a pod starts and again when what they hold has changed. Of what changes in
 * the API nobody tells a node; so it is read again each minute, what several pods hold once for all.
 */
import { type ConfigMap, configMapResource } from '../api/core/v1/config-map.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { isTerminalPhase } from '../api/core/v1/pod-conditions.ts';
import { type Secret, secretResource } from '../api/core/v1/secret.ts';
import type { ProjectedVolumeSource, ServiceAccountTokenProjection } from '../api/core/v1/types.gen.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import { isNotFound, StatusError } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';
import { isTransportError } from '../client/transport-error.ts';
import { AccountTokens, type AccountTokensOptions } from './account-tokens.ts';
import { digestOf, isFilled, replaceFiles } from './atomic-files.ts';
import {
  namesIn,
  type ProjectionSources,
  projectedFiles,
  projectionOf,
  tokensOf,
} from './plan/projection.ts';

export interface ProjectedVolumesOptions extends AccountTokensOptions {
  /** What pods may have of this node. */
  readonly allocatable: Readonly<Record<string, string>>;
}

const periodMs = 60_000;

interface Written {
  /** By the path of the volume, what it holds. */
  readonly digests: Map<string, string>;
  next: number;
}

interface Read {
  readonly at: number;
  readonly object: Promise<KubeObject | undefined>;
}

export class ProjectedVolumes {
  readonly #options: ProjectedVolumesOptions;
  readonly #tokens: AccountTokens;
  /** By the uid of the pod. */
  readonly #written = new Map<string, Written>();
  /** What was read last, by kind, namespace and name. */
  readonly #read = new Map<string, Read>();
  /** By path: one writes at a time. */
  readonly #writing = new Map<string, Promise<void>>();
  #looking: Promise<void> | undefined;

  constructor(options: ProjectedVolumesOptions) {
    this.#options = options;
    this.#tokens = new AccountTokens(options);
  }

  /** Writes one volume, unless it holds the same already. Throws VolumeError for what there is not. */
  async write(pod: Pod, source: ProjectedVolumeSource, path: string, isRefresh = false): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const before = this.#writing.get(path);
    this.#writing.set(path, turn.promise);
    try {
      await before;
      await this.#write(pod, source, path, isRefresh);
    } finally {
      turn.resolve();
      if (this.#writing.get(path) === turn.promise) this.#writing.delete(path);
    }
  }

  async #write(pod: Pod, source: ProjectedVolumeSource, path: string, isRefresh: boolean): Promise<void> {
    const since = this.#options.clock.now() - (isRefresh ? periodMs : 0);
    const sources = await this.#sourcesOr(pod, path, () => this.#sources(pod, source, since));
    if (!sources) return;
    const files = projectedFiles(pod, source, sources);
    const { fsGroup } = pod.spec.securityContext;
    const digest = digestOf(files, fsGroup);
    const written = this.#writtenOf(pod.metadata.uid);
    if (isRefresh && written.digests.get(path) === digest) return;
    await replaceFiles(path, files, fsGroup);
    written.digests.set(path, digest);
  }

  /** Looks which of these pods' volumes are to be written again; never rejects, and one look at a time. `at`: where a volume is. */
  refresh(pods: readonly Pod[], at: (uid: string, volume: string) => string): Promise<void> {
    this.#looking ??= this.#look(pods, at).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** The pod's files are removed. */
  forget(uid: string): void {
    this.#tokens.forget(uid);
    this.#written.delete(uid);
  }

  async #look(pods: readonly Pod[], at: (uid: string, volume: string) => string): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now() - periodMs;
    for (const [key, { at: time }] of this.#read) if (time < since) this.#read.delete(key);
    for (const pod of pods) {
      const { uid } = pod.metadata;
      // One that an earlier run of this agent started is due at once.
      const { next = 0 } = this.#written.get(uid) ?? {};
      const isHere = this.#written.has(uid) || hasStarted(pod);
      if (next > clock.now() || isTerminalPhase(pod.status?.phase) || !isHere) continue;
      this.#writtenOf(uid).next = clock.now() + periodMs;
      for (const volume of pod.spec.volumes ?? []) {
        const source = projectionOf(volume);
        if (source)
          await this.#tolerate(pod, volume.name, () => this.write(pod, source, at(uid, volume.name), true));
      }
    }
  }

  async #tolerate({ metadata }: Pod, volume: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const pod = `${metadata.namespace}/${metadata.name}`;
      const fields = { pod, volume, error: errorMessage(error) };
      this.#options.log.warn(
        'a volume of a pod could not be brought up to date; trying again in a minute',
        fields,
      );
    }
  }

  #writtenOf(uid: string): Written {
    const next = this.#options.clock.now() + periodMs;
    const found = this.#written.get(uid) ?? { digests: new Map(), next };
    this.#written.set(uid, found);
    return found;
  }

  async #sources(pod: Pod, source: ProjectedVolumeSource, since: number): Promise<ProjectionSources> {
    const { namespace = '' } = pod.metadata;
    const names = namesIn(source);
    const [configMaps, secrets, tokens] = await Promise.all([
      this.#all<ConfigMap>(configMapResource, namespace, names.configMaps, since),
      this.#all<Secret>(secretResource, namespace, names.secrets, since),
      this.#allTokens(pod, tokensOf(source)),
    ]);
    return { configMaps, secrets, tokens, allocatable: this.#options.allocatable };
  }

  /** Undefined where no master answers and the volume was filled before, perhaps by an earlier run of this agent: it stays. */
  async #sourcesOr(
    { metadata: { namespace, name } }: Pod,
    path: string,
    read: () => Promise<ProjectionSources>,
  ): Promise<ProjectionSources | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!isAway(error) || !(await isFilled(path))) throw error;
      const fields = { pod: `${namespace}/${name}`, error: errorMessage(error) };
      this.#options.log.warn('a volume of a pod stays as it is while no master answers', fields);
      return undefined;
    }
  }

  async #allTokens(pod: Pod, projections: readonly ServiceAccountTokenProjection[]) {
    const tokens = new Map<ServiceAccountTokenProjection, string>();
    for (const projection of projections) tokens.set(projection, await this.#tokens.get(pod, projection));
    return tokens;
  }

  async #all<T extends KubeObject>(
    ref: ResourceRef<T>,
    namespace: string,
    names: ReadonlySet<string>,
    since: number,
  ): Promise<ReadonlyMap<string, T>> {
    const found = new Map<string, T>();
    for (const name of names) {
      const object = await this.#one(ref, namespace, name, since);
      if (object) found.set(name, object as T);
    }
    return found;
  }

  /** Read after `since`, by whomever. */
  #one(ref: ResourceRef, namespace: string, name: string, since: number): Promise<KubeObject | undefined> {
    const { client, clock } = this.#options;
    const key = JSON.stringify([ref.plural, namespace, name]);
    const known = this.#read.get(key);
    if (known && known.at > since) return known.object;
    const object = client
      .resource(ref)
      .get(name, namespace)
      .catch((error) => {
        if (isNotFound(error)) return undefined;
        this.#read.delete(key);
        throw error;
      });
    this.#read.set(key, { at: clock.now(), object });
    return object;
  }
}

/** The server said nothing, or that it cannot say anything now. */
const isAway = (error: unknown) =>
  isTransportError(error) ||
  (error instanceof StatusError && (error.status.code >= 500 || error.status.code === 429));

const hasStarted = ({ status }: Pod) =>
  (status?.containerStatuses ?? []).some(({ containerID }) => containerID);
