/**
 * The cache's objects by key, which can be listed in key order. Keys are grouped by directory (everything up
 * to the last slash), so that listing one namespace of one resource reads no other objects, and a list is one
 * copy of a sorted array.
 */
import type { CachedObject, CacheIndex, IndexDeclaration } from './cache.ts';
import { NamespaceBytes } from './namespace-bytes.ts';
import { SecondaryIndex } from './secondary-index.ts';
import { insertionPoint } from './sorted.ts';

interface Directory {
  /** Sorted; `objects[i]` has the key `keys[i]`. */
  readonly keys: string[];
  readonly objects: CachedObject[];
}

export class ObjectIndex {
  readonly #byKey = new Map<string, CachedObject>();
  readonly #directories = new Map<string, Directory>();
  /** The names of `#directories`, sorted. */
  readonly #names: string[] = [];
  readonly #secondary = new Map<string, SecondaryIndex>();
  readonly #namespaces = new NamespaceBytes();
  readonly #unreadable: (key: string, error: unknown) => void;

  /** `unreadable` is called for objects that an index cannot read. */
  constructor(unreadable: (key: string, error: unknown) => void) {
    this.#unreadable = unreadable;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): CachedObject | undefined {
    return this.#byKey.get(key);
  }

  /** See Cache. */
  namespaceBytes(namespace: string): number {
    return this.#namespaces.of(namespace);
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  set(object: CachedObject): void {
    const { key } = object;
    const before = this.#byKey.get(key);
    const isNew = before === undefined;
    this.#namespaces.change(key, before?.bytes.length ?? 0, object.bytes.length);
    this.#byKey.set(key, object);
    for (const index of this.#secondary.values()) index.set(object);
    const { keys, objects } = this.#directory(directoryOf(key));
    const at = insertionPoint(keys, key);
    if (isNew) {
      keys.splice(at, 0, key);
      objects.splice(at, 0, object);
    } else {
      objects[at] = object;
    }
  }

  delete(key: string): void {
    const object = this.#byKey.get(key);
    if (!object) return;
    this.#byKey.delete(key);
    this.#namespaces.change(key, object.bytes.length, 0);
    for (const index of this.#secondary.values()) index.delete(key);
    const name = directoryOf(key);
    const { keys, objects } = this.#directory(name);
    const at = insertionPoint(keys, key);
    keys.splice(at, 1);
    objects.splice(at, 1);
    if (keys.length > 0) return;
    this.#directories.delete(name);
    this.#names.splice(insertionPoint(this.#names, name), 1);
  }

  /** Returns a snapshot, in key order, of the objects whose keys start with `prefix`. */
  list(prefix: string): CachedObject[] {
    const parts: CachedObject[][] = [];
    const own = directoryOf(prefix);
    if (own !== prefix) {
      const directory = this.#directories.get(own);
      if (directory) parts.push(startingWith(directory, prefix));
    }
    let nested = false;
    let previous: string | undefined;
    for (let i = insertionPoint(this.#names, prefix); this.#names[i]?.startsWith(prefix); i++) {
      const name = this.#names[i] as string;
      parts.push(this.#directory(name).objects);
      nested ||= previous !== undefined && name.startsWith(previous);
      previous = name;
    }
    const all = parts.length === 1 ? (parts[0] as CachedObject[]).slice() : parts.flat();
    // Objects beside a directory of objects interleave with it; everywhere else directories are in key order.
    const interleaved = nested || (own !== prefix && parts.length > 1);
    return interleaved ? all.sort((a, b) => (a.key < b.key ? -1 : 1)) : all;
  }

  /** See Cache. */
  secondary(declaration: IndexDeclaration): CacheIndex {
    const { name, prefix } = declaration;
    const known = this.#secondary.get(name);
    if (known) return known;
    const made = new SecondaryIndex(declaration, this.#unreadable);
    for (const object of this.list(prefix)) made.set(object);
    this.#secondary.set(name, made);
    return made;
  }

  #directory(name: string): Directory {
    let directory = this.#directories.get(name);
    if (!directory) {
      directory = { keys: [], objects: [] };
      this.#directories.set(name, directory);
      this.#names.splice(insertionPoint(this.#names, name), 0, name);
    }
    return directory;
  }
}

function directoryOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

function startingWith({ keys, objects }: Directory, prefix: string): CachedObject[] {
  const from = insertionPoint(keys, prefix);
  let to = from;
  while (keys[to]?.startsWith(prefix)) to++;
  return objects.slice(from, to);
}
