/** Objects by key, by namespace and by named indexes. Stored objects are frozen. */
import { type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { deepFreeze } from '../base/freeze.ts';
import type { Lister } from './informer.ts';

type IndexFunction<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly values: IndexFunction<T>;
  readonly entries: Map<string, Map<ObjectKey, T>>;
}

export class Indexer<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<ObjectKey, T>();
  readonly #namespaces: Index<T> = {
    values: (object) => [object.metadata.namespace ?? ''],
    entries: new Map(),
  };
  readonly #indexes = new Map<string, Index<T>>();

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): readonly T[] {
    if (!namespace) return [...this.#objects.values()];
    return [...(this.#namespaces.entries.get(namespace)?.values() ?? [])];
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index)
      throw new Error(`there is no index ${JSON.stringify(name)}: add it before the informer starts`);
    return [...(index.entries.get(value)?.values() ?? [])];
  }

  keys(): Iterable<ObjectKey> {
    return this.#objects.keys();
  }

  /**
   * Adds an index and indexes the present objects. The same function may be added again; another function
   * under the name throws.
   */
  addIndex(name: string, values: IndexFunction<T>): void {
    const present = this.#indexes.get(name);
    if (present && present.values !== values) {
      throw new Error(
        `index ${JSON.stringify(name)} exists with another function: share it or choose another name`,
      );
    }
    if (present) return;
    const index: Index<T> = { values, entries: new Map() };
    for (const [key, object] of this.#objects) enter(index, key, object);
    this.#indexes.set(name, index);
  }

  /** Stores an object; returns the previous object of the key. */
  set(object: T): T | undefined {
    const key = objectKey(object);
    const old = this.remove(key);
    this.#objects.set(key, deepFreeze(object));
    for (const index of this.#all()) enter(index, key, object);
    return old;
  }

  /** Removes an object and returns it; undefined if there was none. */
  remove(key: ObjectKey): T | undefined {
    const old = this.#objects.get(key);
    if (!old) return undefined;
    this.#objects.delete(key);
    for (const index of this.#all()) leave(index, key, old);
    return old;
  }

  *#all(): Iterable<Index<T>> {
    yield this.#namespaces;
    yield* this.#indexes.values();
  }
}

function enter<T>(index: Index<T>, key: ObjectKey, object: T): void {
  for (const value of index.values(object)) {
    const entry = index.entries.get(value);
    if (entry) entry.set(key, object);
    else index.entries.set(value, new Map([[key, object]]));
  }
}

function leave<T>(index: Index<T>, key: ObjectKey, object: T): void {
  for (const value of index.values(object)) {
    const entry = index.entries.get(value);
    entry?.delete(key);
    if (entry?.size === 0) index.entries.delete(value);
  }
}
