/**
 * Index of the cache's objects by values in them. The index changes with the cache, so it is always at the
 * cache's revision, and a lookup reads no other objects.
 */
import type { CachedObject, CacheIndex, IndexDeclaration } from './cache.ts';

const none: readonly string[] = [];

export class SecondaryIndex implements CacheIndex {
  readonly #declaration: IndexDeclaration;
  /** Called for an object whose index keys cannot be read, which then has none. */
  readonly #unreadable: (key: string, error: unknown) => void;
  readonly #found = new Map<string, Map<string, CachedObject>>();
  /** Index keys of each object; objects without index keys are left out. */
  readonly #keys = new Map<string, readonly string[]>();

  constructor(declaration: IndexDeclaration, unreadable: (key: string, error: unknown) => void) {
    this.#declaration = declaration;
    this.#unreadable = unreadable;
  }

  get(key: string): readonly CachedObject[] {
    return [...(this.#found.get(key)?.values() ?? [])];
  }

  has(key: string): boolean {
    return this.#found.has(key);
  }

  /** Adds or updates an object of the cache; ignores objects outside the prefix. */
  set(object: CachedObject): void {
    if (!object.key.startsWith(this.#declaration.prefix)) return;
    const next = this.#keysOf(object);
    for (const key of this.#keys.get(object.key) ?? none) if (!next.has(key)) this.#remove(key, object.key);
    for (const key of next) {
      const objects = this.#found.get(key) ?? new Map<string, CachedObject>();
      this.#found.set(key, objects.set(object.key, object));
    }
    if (next.size > 0) this.#keys.set(object.key, [...next]);
    else this.#keys.delete(object.key);
  }

  /** Removes an object by its key in the cache. */
  delete(objectKey: string): void {
    for (const key of this.#keys.get(objectKey) ?? none) this.#remove(key, objectKey);
    this.#keys.delete(objectKey);
  }

  #remove(key: string, objectKey: string): void {
    const objects = this.#found.get(key);
    objects?.delete(objectKey);
    if (objects?.size === 0) this.#found.delete(key);
  }

  #keysOf(object: CachedObject): ReadonlySet<string> {
    try {
      return new Set(this.#declaration.keysOf(object.unowned));
    } catch (error) {
      this.#unreadable(object.key, error);
      return new Set();
    }
  }
}
