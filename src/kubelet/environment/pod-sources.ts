/**
 * The ConfigMaps, Secrets and claims that the pods on this node use, each watched separately for as long as a
 * pod needs it (upstream: pkg/kubelet/util/manager, the watch-based one). An immutable object is read once.
 * Containers and volumes read them from memory.
 */
import PQueue from 'p-queue';
import { type ConfigMap, configMapResource } from '../../api/core/v1/config-map.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { sourceReferences } from '../../api/core/v1/pod/references.ts';
import { type Secret, secretResource } from '../../api/core/v1/secret.ts';
import type { PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../client/reflector.ts';
import { TrustBundles } from './trust-bundles.ts';

export interface PodSourcesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export type SourceKind = 'configMap' | 'secret' | 'claim';

type Source = ConfigMap | Secret | PersistentVolumeClaim;

const refs: Readonly<Record<SourceKind, ResourceRef<Source>>> = {
  configMap: configMapResource as ResourceRef<Source>,
  secret: secretResource as ResourceRef<Source>,
  claim: persistentVolumeClaimResource as ResourceRef<Source>,
};

/**
 * Maximum number of objects that are watched at once, per pod and in total: a node has one connection with a
 * limited number of watches, which the node's heartbeats need too. Other objects are read when they are
 * needed.
 */
const maxOfPod = 250;
const maxOfAll = 1500;
/**
 * Timeout of a read: a pod must not wait for a master that does not respond when the pod's data is already on
 * disk. The caller retries.
 */
const readTimeoutMs = 5000;
/** Maximum number of reads at once, so that a pod with thousands of names does not block others. */
const readsAtOnce = 8;

export class PodSources {
  readonly #options: PodSourcesOptions;
  readonly #reads = new PQueue({ concurrency: readsAtOnce });
  readonly #watched = new Map<string, WatchedSource>();
  /** Keys of the objects that each pod needs, by pod uid. */
  readonly #needs = new Map<string, ReadonlySet<string>>();
  readonly trustBundles: TrustBundles;
  #onChange: (uid: string) => void = () => {};

  constructor(options: PodSourcesOptions) {
    this.#options = options;
    this.trustBundles = new TrustBundles({ ...options, readTimeoutMs });
  }

  /**
   * Called for each pod when an object that it needs has been created, changed or deleted since the last
   * call.
   */
  set onChange(listener: (uid: string) => void) {
    this.#onChange = listener;
    this.trustBundles.onChange = listener;
  }

  /** Watches what the pod needs from now on. */
  observe(pod: Pod): void {
    this.trustBundles.observe(pod);
    const { uid, namespace = '' } = pod.metadata;
    const { claims, configMaps, secrets } = sourceReferences(pod);
    const wanted = [
      ...[...claims].map((name) => ['claim', name] as const),
      ...[...configMaps].map((name) => ['configMap', name] as const),
      ...[...secrets].map((name) => ['secret', name] as const),
    ];
    const needs = new Set<string>();
    for (const [kind, name] of wanted.slice(0, maxOfPod)) {
      const key = this.#need(uid, kind, namespace, name);
      if (key !== undefined) needs.add(key);
    }
    const before = this.#needs.get(uid) ?? new Set();
    this.#needs.set(uid, needs);
    for (const key of before) if (!needs.has(key)) this.#release(uid, key);
  }

  /** Stops watching for a pod that no longer needs any object. */
  forget(uid: string): void {
    this.trustBundles.forget(uid);
    const needs = this.#needs.get(uid) ?? new Set();
    this.#needs.delete(uid);
    for (const key of needs) this.#release(uid, key);
  }

  /**
   * Returns the ConfigMap as it is known here; undefined when it does not exist. Rejects when it has never
   * been read and cannot be read now.
   */
  async configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return (await this.#read('configMap', namespace, name)) as ConfigMap | undefined;
  }

  /** Returns the Secret, as `configMap` does. */
  async secret(namespace: string, name: string): Promise<Secret | undefined> {
    return (await this.#read('secret', namespace, name)) as Secret | undefined;
  }

  /** Returns the claim, as `configMap` does. */
  async claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined> {
    return (await this.#read('claim', namespace, name)) as PersistentVolumeClaim | undefined;
  }

  /**
   * Returns a text that identifies the known version of the object; a different text means that the object
   * must be read again.
   */
  version(kind: SourceKind, namespace: string, name: string): string {
    return this.#watched.get(keyOf(kind, namespace, name))?.version ?? 'unread';
  }

  /** Ends all watches. */
  close(): void {
    for (const uid of [...this.#needs.keys()]) this.forget(uid);
    this.trustBundles.close();
  }

  /** Watches an object for the pod and returns its key; undefined when the maximum is reached. */
  #need(uid: string, kind: SourceKind, namespace: string, name: string): string | undefined {
    const key = keyOf(kind, namespace, name);
    let source = this.#watched.get(key);
    if (!source && this.#watched.size >= maxOfAll) return undefined;
    if (!source) {
      const onChange = () => {
        for (const pod of this.#watched.get(key)?.pods ?? []) this.#onChange(pod);
      };
      const inTurn = <T>(work: () => Promise<T>): Promise<T> => this.#reads.add(work);
      source = new WatchedSource({ ...this.#options, ref: refs[kind], namespace, name, onChange, inTurn });
      this.#watched.set(key, source);
    }
    source.pods.add(uid);
    return key;
  }

  #release(uid: string, key: string): void {
    const source = this.#watched.get(key);
    if (!source) return;
    source.pods.delete(uid);
    if (source.pods.size > 0) return;
    this.#watched.delete(key);
    source.stop();
  }

  async #read(kind: SourceKind, namespace: string, name: string): Promise<Source | undefined> {
    const done = new AbortController();
    const late = sleep(this.#options.clock, readTimeoutMs, done.signal).then(() => {
      // The message is upstream's.
      throw new Error(
        `failed to sync ${kind === 'claim' ? 'persistentvolumeclaim' : kind.toLowerCase()} cache: timed out waiting for the condition`,
      );
    });
    try {
      return await Promise.race([this.#readNow(kind, namespace, name), late]);
    } finally {
      late.catch(() => undefined);
      done.abort();
    }
  }

  async #readNow(kind: SourceKind, namespace: string, name: string): Promise<Source | undefined> {
    const watched = this.#watched.get(keyOf(kind, namespace, name));
    if (watched && (await watched.known())) return watched.object;
    try {
      return await this.#reads.add(() => this.#options.client.resource(refs[kind]).get(name, namespace));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

const keyOf = (kind: SourceKind, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

interface WatchedSourceOptions extends PodSourcesOptions {
  readonly ref: ResourceRef<Source>;
  readonly namespace: string;
  readonly name: string;
  readonly onChange: () => void;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

class WatchedSource implements ReflectorSink<Source> {
  readonly pods = new Set<string>();
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  readonly #tried = Promise.withResolvers<void>();
  #isRead = false;
  object: Source | undefined;

  constructor(options: WatchedSourceOptions) {
    const { client, clock, random, log, ref, namespace, name, onChange, inTurn } = options;
    this.#onChange = onChange;
    const { list, watch } = client.resource(ref);
    const resource: Pick<ReturnType<typeof client.resource<Source>>, 'list' | 'watch'> = {
      watch,
      list: async (query) => {
        try {
          return await inTurn(() => list(query));
        } catch (error) {
          this.#tried.resolve();
          throw error;
        }
      },
    };
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const named = log.named(`source/${ref.plural}`);
    void runReflector(
      { resource, scope, sink: this, clock, random, log: named, newest: true },
      this.#stop.signal,
    );
  }

  get version(): string {
    if (!this.#isRead) return 'unread';
    const { uid, resourceVersion } = this.object?.metadata ?? {};
    return this.object ? `${uid} ${resourceVersion}` : 'none';
  }

  /** Resolves after the first attempt to read: true when `object` is the current state. */
  async known(): Promise<boolean> {
    await this.#tried.promise;
    return this.#isRead;
  }

  stop(): void {
    this.#stop.abort();
    this.#tried.resolve();
  }

  replace([found]: readonly Source[]): void {
    const before = this.version;
    this.#isRead = true;
    this.#set(found, before);
    this.#tried.resolve();
  }

  apply({ type, object }: ObjectEvent<Source>): void {
    this.#set(type === 'DELETED' ? undefined : object, this.version);
  }

  #set(object: Source | undefined, before: string): void {
    // The managedFields make up half of the size of many objects and are not used here.
    if (object?.metadata.managedFields) delete object.metadata.managedFields;
    this.object = object;
    // An immutable object cannot change; a replacement is created under another name.
    if (object && 'immutable' in object && object.immutable) this.#stop.abort();
    if (this.version !== before) this.#onChange();
  }
}
