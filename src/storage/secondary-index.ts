/**
 * Objects of the cache by what they say. It changes with the cache, so whenever it is read it is of the cache's revision; and to find
 * an object no other one is looked at.
 */
import type { CachedObject, CacheIndex, IndexDeclaration } from './cache.ts';

const none: readonly string[] = [];

export class SecondaryIndex implements CacheIndex {
  readonly #declaration: IndexDeclaration;
  /** Told of an object whose keys cannot be read; it has none then. */
  readonly #unreadable: (key: string, error: unknown) => void;
  readonly #found = new Map<string, Map<string, CachedObject>>();
  /** Under what each object stands; those that stand nowhere are left out. */
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

  /** Any object of the cache, new or changed; passes over those that it is not about. */
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

  /** The key of an object in the cache. */
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
