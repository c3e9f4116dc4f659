/**
 * Implements the shared cache of informer.ts. The store changes first; handlers are called afterwards, in
 * order and in the same turn of the event loop. Thus a handler, and any code that it triggers, always finds
 * the reported state in the cache. An object that was deleted and recreated under the same name during a gap
 * of the watch is reported as a delete and an add.
 */
import { type KubeObject, objectKey } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { deepFreeze } from '../base/freeze.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from './client.ts';
import { Indexer } from './indexer.ts';
import type { EventHandler, Informer, InformerFactory, InformerScope, Lister } from './informer.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from './reflector.ts';
import { notAfter } from './resource-version.ts';

export interface InformerFactoryOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Option of the reflectors; see ReflectorOptions. */
  readonly newest?: boolean;
  readonly pageSize?: number;
  readonly silenceMs?: number;
}

/**
 * Creates a factory. `start` may be called again for informers that were requested since; it rejects when its
 * signal aborts before the sync.
 */
export function createInformerFactory(options: InformerFactoryOptions): InformerFactory {
  const informers = new Map<string, SharedInformer<KubeObject>>();
  const running: Promise<void>[] = [];

  return {
    informerFor<T extends KubeObject>(ref: ResourceRef<T>, scope: InformerScope = {}): Informer<T> {
      const id = JSON.stringify([
        ref.group,
        ref.version,
        ref.plural,
        ref.part ?? '',
        scope.namespace ?? '',
        scope.labelSelector ?? '',
        scope.fieldSelector ?? '',
      ]);
      let informer = informers.get(id);
      if (!informer) {
        informer = new SharedInformer<KubeObject>(ref, scope, options);
        informers.set(id, informer);
      }
      // The map's key includes the kind and the requested part, which determine the type.
      return informer as unknown as Informer<T>;
    },

    async start(signal) {
      for (const informer of informers.values()) {
        if (!informer.started) running.push(informer.run(signal));
      }
      await untilSynced([...informers.values()], signal);
    },

    forget(ref) {
      for (const [id, informer] of informers) {
        if (!informer.isOf(ref)) continue;
        informers.delete(id);
        informer.stop();
      }
    },

    async stopped() {
      await Promise.all(running);
    },
  };
}

async function untilSynced(
  informers: readonly SharedInformer<KubeObject>[],
  signal: AbortSignal,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const unlink = onAbort(signal, () => reject(signal.reason));
  try {
    await Promise.race([promise, Promise.all(informers.map((informer) => informer.synced))]);
  } finally {
    unlink();
  }
}

class SharedInformer<T extends KubeObject> implements Informer<T>, ReflectorSink<T> {
  readonly #ref: ResourceRef<T>;
  readonly #scope: InformerScope;
  readonly #options: InformerFactoryOptions;
  readonly #log: Logger;
  readonly #store = new Indexer<T>();
  readonly #synced = Promise.withResolvers<void>();
  #handlers: readonly EventHandler<T>[] = [];
  readonly #stopping = new AbortController();
  started = false;
  hasSynced = false;

  constructor(ref: ResourceRef<T>, scope: InformerScope, options: InformerFactoryOptions) {
    this.#ref = ref;
    this.#scope = scope;
    this.#options = options;
    this.#log = options.log.named(`informer/${ref.plural}`);
  }

  get lister(): Lister<T> {
    return this.#store;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  addEventHandler(handler: EventHandler<T>): void {
    this.#handlers = [...this.#handlers, handler];
    for (const object of this.#store.list()) this.#call(() => handler.onAdd?.(object));
  }

  addIndex(name: string, values: (object: T) => readonly string[]): void {
    this.#store.addIndex(name, values);
  }

  isOf({ group, version, plural }: ResourceRef): boolean {
    const own = this.#ref;
    return own.group === group && own.version === version && own.plural === plural;
  }

  /** Ends `run`, removes the handlers and resolves the promise of callers that wait for the sync. */
  stop(): void {
    this.#stopping.abort();
    this.#handlers = [];
    this.#synced.resolve();
  }

  /** Runs the reflector; must be called at most once. */
  run(until: AbortSignal): Promise<void> {
    this.started = true;
    const signal = AbortSignal.any([until, this.#stopping.signal]);
    const { client, clock, random, newest, pageSize, silenceMs } = this.#options;
    return runReflector(
      {
        resource: client.resource(this.#ref),
        scope: this.#scope,
        sink: this,
        clock,
        random,
        log: this.#log,
        ...(newest !== undefined && { newest }),
        ...(pageSize !== undefined && { pageSize }),
        ...(silenceMs !== undefined && { silenceMs }),
      },
      signal,
    );
  }

  replace(items: readonly T[]): void {
    const gone = new Set(this.#store.keys());
    const notifications: (() => void)[] = [];
    for (const item of items) {
      gone.delete(objectKey(item));
      notifications.push(this.#put(item));
    }
    const deletes = [...gone].map((key) => this.#drop(key));
    for (const notify of [...deletes, ...notifications]) notify();
    if (this.hasSynced) return;
    this.hasSynced = true;
    this.#synced.resolve();
  }

  apply(event: ObjectEvent<T>): void {
    const { object } = event;
    if (event.type !== 'DELETED') {
      this.#put(object)();
      return;
    }
    const key = objectKey(object);
    const stored = this.#store.get(key);
    // A late event of an earlier object with this name is ignored: the stored object is newer.
    if (stored && !isOlder(object, stored)) this.#drop(key, deepFreeze(object))();
  }

  /** Updates the store; the returned function notifies the handlers that are registered now. */
  #put(object: T): () => void {
    const stored = this.#store.get(objectKey(object));
    const { uid, resourceVersion } = object.metadata;
    const same = stored?.metadata.uid === uid;
    if (same && stored.metadata.resourceVersion === resourceVersion) return () => undefined;
    // managedFields are half of many objects and are not needed here; an update without them leaves them
    // unchanged.
    if (object.metadata.managedFields) delete object.metadata.managedFields;
    this.#store.set(object);
    if (!stored) return this.#notification((handler) => handler.onAdd?.(object));
    if (same) return this.#notification((handler) => handler.onUpdate?.(object, stored));
    return this.#notification((handler) => {
      handler.onDelete?.(stored);
      handler.onAdd?.(object);
    });
  }

  #drop(key: string, final?: T): () => void {
    const stored = this.#store.remove(key);
    if (!stored) return () => undefined;
    const last = final ?? stored;
    return this.#notification((handler) => handler.onDelete?.(last));
  }

  /**
   * Captures the present handlers: a handler that is added later gets the state of the store at that time.
   */
  #notification(what: (handler: EventHandler<T>) => void): () => void {
    const handlers = this.#handlers;
    return () => {
      for (const handler of handlers) this.#call(() => what(handler));
    };
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#log.error('an event handler threw; it must not', { error: errorMessage(error) });
    }
  }
}

const isOlder = (event: KubeObject, stored: KubeObject) =>
  event.metadata.resourceVersion !== stored.metadata.resourceVersion &&
  notAfter(event.metadata.resourceVersion, stored.metadata.resourceVersion);
