/**
 * Contract of the shared cache of one kind: a single list and watch for any number of readers. Objects are
 * deeply frozen; copy one (structuredClone) before changing it. Implementation: shared-informer.ts.
 */
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';

export interface EventHandler<T extends KubeObject> {
  onAdd?(object: T): void;
  onUpdate?(object: T, old: T): void;
  onDelete?(object: T): void;
}

export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(namespace?: string): readonly T[];
  /** Returns the objects that an index holds under `value`; throws when the index was not registered. */
  byIndex(index: string, value: string): readonly T[];
}

export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` becomes true. */
  readonly synced: Promise<void>;
  /**
   * Adds a handler, which first gets an add event for every present object. Handlers must not throw and must
   * not block.
   */
  addEventHandler(handler: EventHandler<T>): void;
  /**
   * Adds an index; must be called before the start. The function returns the values under which an object is
   * indexed.
   */
  addIndex(name: string, values: (object: T) => readonly string[]): void;
}

export interface InformerScope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface InformerFactory {
  /** Returns the informer for a kind and scope: the same one for equal arguments. */
  informerFor<T extends KubeObject>(ref: ResourceRef<T>, scope?: InformerScope): Informer<T>;
  /** Starts the requested informers and resolves when all have synced. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops the informers of a kind that is no longer served and drops their objects. */
  forget(ref: ResourceRef): void;
  /** Resolves when every reflector has ended after an abort. */
  stopped(): Promise<void>;
}
