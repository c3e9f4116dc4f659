/**
 * The contract of the shared cache of one kind: one list and one watch however many readers. Objects are
 * deeply frozen; copy (structuredClone) before changing one. Implementation: shared-informer.ts.
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
  /** The objects an index holds under `value`; throws when the index was not registered. */
  byIndex(index: string, value: string): readonly T[];
}

export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` has become true. */
  readonly synced: Promise<void>;
  /** Handlers added later first get an add for every object. They must not throw and must not wait. */
  addEventHandler(handler: EventHandler<T>): void;
  /** Registered before start; the function gives the values under which an object is found. */
  addIndex(name: string, values: (object: T) => readonly string[]): void;
}

export interface InformerScope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface InformerFactory {
  /** The same informer for the same kind and scope. */
  informerFor<T extends KubeObject>(ref: ResourceRef<T>, scope?: InformerScope): Informer<T>;
  /** Starts informers that were asked for and resolves when all have synced. */
  start(signal: AbortSignal): Promise<void>;
  /** Ends the informers of a kind that is no longer served, and drops what they hold. */
  forget(ref: ResourceRef): void;
  /** Resolves when every reflector has ended after the abort. */
  stopped(): Promise<void>;
}
