/**
 * The contract of the watch cache: all objects under `/registry/`, kept current by one watch on the store. It
 * keeps the serialized bytes (with `metadata.resourceVersion` filled in) and decodes lazily; every watcher of
 * an event gets the same frame. Implementation: watch-cache.ts.
 */
import type { KubeObject } from '../apimachinery/meta.ts';

export interface CachedObject {
  readonly key: string;
  readonly revision: number;
  /** JSON of the object, with its resourceVersion. */
  readonly bytes: Buffer;
  /** Decoded on first use and deeply frozen. */
  readonly object: KubeObject;
  /**
   * The object for a single use: it is not cached, and may lack its managedFields, which are half of many an
   * object.
   */
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
  /** The wire form `{"type":…,"object":…}\n`, encoded once. */
  readonly frame: Buffer;
}

export interface CacheWatch {
  /**
   * Called with events in order, few at a time. All events up to `revision` have then been delivered. Other
   * watches of the server wait meanwhile, so the function must take no longer than a few milliseconds.
   */
  readonly onEvents: (events: readonly CacheEvent[], revision: number) => void;
  /** Called once if the watch cannot continue (history was lost): the client must list again. */
  readonly onExpired: () => void;
}

/** Ends a watch. */
export interface EndWatch {
  (): void;
  /** Returns the revision up to which every event has been delivered to the watch. */
  handedOver(): number;
}

/** Declares an index by which a part of the server finds objects. */
export interface IndexDeclaration {
  /** Identifies the index: declarations of the same name share one index. */
  readonly name: string;
  /** Prefix of the keys of the indexed objects; ends in `/`. */
  readonly prefix: string;
  /** Returns the index keys of an object. If it throws, the object is logged and left out of the index. */
  keysOf(object: KubeObject): Iterable<string>;
}

/** Index of objects, at the cache's revision. */
export interface CacheIndex {
  /** Returns the objects under an index key, in no order. */
  get(key: string): readonly CachedObject[];
  has(key: string): boolean;
}

export interface Cache {
  /** Revision up to which every write has been applied. */
  readonly revision: number;
  /** Resolves when the cache has applied `revision`; rejects with the signal's reason. */
  waitUntil(revision: number, signal?: AbortSignal): Promise<void>;
  get(key: string): CachedObject | undefined;
  /** Returns the objects whose keys start with `prefix`, in key order. */
  list(prefix: string): readonly CachedObject[];
  /** Returns the total size in bytes of the objects of a namespace. */
  namespaceBytes(namespace: string): number;
  /** Returns an index, which is created on first use and then updated with every change. */
  index(declaration: IndexDeclaration): CacheIndex;
  /**
   * Delivers every event under `prefix` (which ends in `/`) with a revision greater than `after`. Throws
   * CompactedError if the cache has no events that far back. Returns the function that ends the watch.
   */
  watch(prefix: string, after: number, watch: CacheWatch): EndWatch;
}
