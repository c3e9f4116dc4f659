/**
 * Secrets or ConfigMaps that Ingresses, Gateways or their policies name, each watched separately: a node may
 * read no others.
 */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import { runReflector } from '../../../client/reflector.ts';

export interface WatchedObjectsOptions<T extends KubeObject> {
  readonly resource: ResourceRef<T>;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onChange: () => void;
}

interface Watched<T> {
  readonly stop: AbortController;
  /** Resolves after the first read. */
  readonly read: PromiseWithResolvers<void>;
  object: T | undefined;
}

/** Maximum number of objects that are watched; a node's connection has a limited number of watches. */
const maxWatched = 1000;

export class WatchedObjects<T extends KubeObject> {
  readonly #options: WatchedObjectsOptions<T>;
  readonly #watched = new Map<string, Watched<T>>();

  constructor(options: WatchedObjectsOptions<T>) {
    this.#options = options;
  }

  /** Watches exactly these objects, given as NAMESPACE/NAME, up to the limit. */
  watch(keys: Iterable<string>): void {
    const wanted = new Set([...keys].slice(0, maxWatched));
    for (const [key, { stop }] of this.#watched) {
      if (wanted.has(key)) continue;
      stop.abort();
      this.#watched.delete(key);
    }
    for (const key of wanted) if (!this.#watched.has(key)) this.#watched.set(key, this.#start(key));
  }

  /** Resolves when every watched object has been read once. */
  async allRead(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ read }) => read.promise));
  }

  get(key: string): T | undefined {
    return this.#watched.get(key)?.object;
  }

  close(): void {
    this.watch([]);
  }

  #start(key: string): Watched<T> {
    const { client, clock, random, log, onChange } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const watched: Watched<T> = {
      stop: new AbortController(),
      read: Promise.withResolvers<void>(),
      object: undefined,
    };
    const set = (object: T | undefined) => {
      watched.object = object;
      watched.read.resolve();
      onChange();
    };
    const sink = {
      replace: ([first]: readonly T[]) => set(first),
      apply: ({ type, object }: { type: string; object: T }) => set(type === 'DELETED' ? undefined : object),
    };
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const resource = client.resource(this.#options.resource);
    void runReflector({ resource, scope, sink, clock, random, log, newest: true }, watched.stop.signal);
    return watched;
  }
}
