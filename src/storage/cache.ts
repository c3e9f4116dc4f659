/**
 * The contract of the watch cache: all objects under `/registry/`, kept current by one watch on the store.
 * It keeps the serialized bytes (with `metadata.resourceVersion` filled in) and decodes lazily; every watcher
 * of an event gets the same frame. Implementation: watch-cache.ts.
 */
import type { KubeObject } from '../apimachinery/meta.ts';

export interface CachedObject {
  readonly key: string;
  readonly revision: number;
  /** The object's JSON, resourceVersion included. */
  readonly bytes: Buffer;
  /** Decoded on first use and deeply frozen. */
  readonly object: KubeObject;
  /** To be looked at once: it is not kept, and may lack its managedFields, which are half of many an object. */
  readonly unowned: KubeObject;
}

export interface CacheEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly revision: number;
  /** The object after the event; for DELETED its last state with the deletion's resourceVersion. */
  readonly current: CachedObject;
  /** The object before the event; absent for ADDED. */
  readonly previous: CachedObject | undefined;
  /** The wire form `{"type":…,"object":…}\n`, made once. */
  readonly frame: Buffer;
}

export interface CacheWatch {
  /**
   * Called with events in order, few at a time. All events up to `revision` have been handed over then. Other watches of the server
   * wait meanwhile, so it must take no longer than a few milliseconds.
   */
  readonly onEvents: (events: readonly CacheEvent[], revision: number) => void;
  /** Called once when the watch cannot go on (history was lost): the client must list again. */
  readonly onExpired: () => void;
}

/** Ends a watch. */
export interface EndWatch {
  (): void;
  /** The revision up to which the watch has been handed every event. */
  handedOver(): number;
}

/** What a part of the server finds objects by. */
export interface IndexDeclaration {
  /** Who asks for an index of this name gets the same one. */
  readonly name: string;
  /** Of the keys of the objects it is about; ends in `/`. */
  readonly prefix: string;
  /** What an object is found by. One for which this throws is not found, and is logged. */
  keysOf(object: KubeObject): Iterable<string>;
}

/** As of the cache's revision. */
export interface CacheIndex {
  /** In no order. */
  get(key: string): readonly CachedObject[];
  has(key: string): boolean;
}

export interface Cache {
  /** Every write up to this revision has been applied. */
  readonly revision: number;
  /** Resolves when the cache has applied `revision`; rejects with the signal's reason. */
  waitUntil(revision: number, signal?: AbortSignal): Promise<void>;
  get(key: string): CachedObject | undefined;
  /** In key order. */
  list(prefix: string): readonly CachedObject[];
  /** Bytes that the objects of a namespace take. */
  namespaceBytes(namespace: string): number;
  /** Made when it is asked for first, and kept with every change from then on. */
  index(declaration: IndexDeclaration): CacheIndex;
  /**
   * Delivers every event under `prefix` (which ends in `/`) with a revision greater than `after`. Throws CompactedError
   * when the cache no longer remembers that far back. Returns the function that ends the watch.
   */
  watch(prefix: string, after: number, watch: CacheWatch): EndWatch;
}
