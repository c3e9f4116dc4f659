/**
 * A set of fields of an object: a tree of path elements. Each element may be a member and may have members
 * below it. The operations return new sets that share unchanged parts; only `add` changes a set, while it is
 * being built.
 */
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import { describeElement, inElementOrder, type PathElement, parseElement } from './path-element.ts';

export type FieldPath = readonly PathElement[];

export class FieldSet {
  readonly members = new Set<PathElement>();
  readonly children = new Map<PathElement, FieldSet>();

  static of(...paths: readonly FieldPath[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.add(path);
    return set;
  }

  /** Adds a path. An empty path is ignored: the object as a whole has no owner. */
  add(path: FieldPath): void {
    const last = path.at(-1);
    if (last === undefined) return;
    let set: FieldSet = this;
    for (const element of path.slice(0, -1)) {
      let next = set.children.get(element);
      if (!next) {
        next = new FieldSet();
        set.children.set(element, next);
      }
      set = next;
    }
    set.members.add(last);
  }

  has(path: FieldPath): boolean {
    const last = path.at(-1);
    if (last === undefined) return false;
    let set: FieldSet | undefined = this;
    for (const element of path.slice(0, -1)) set = set?.children.get(element);
    return set?.members.has(last) ?? false;
  }

  get isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  /** The number of members. */
  get size(): number {
    let count = this.members.size;
    for (const child of this.children.values()) count += child.size;
    return count;
  }

  /** Returns the set below an element; empty when there is none. */
  below(element: PathElement): FieldSet {
    return this.children.get(element) ?? empty;
  }

  union(other: FieldSet): FieldSet {
    const made = new FieldSet();
    for (const member of this.members) made.members.add(member);
    for (const member of other.members) made.members.add(member);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      made.children.set(element, theirs ? child.union(theirs) : child);
    }
    for (const [element, child] of other.children)
      if (!this.children.has(element)) made.children.set(element, child);
    return made;
  }

  /** Returns the union of many sets; it visits each field once. */
  static union(sets: readonly FieldSet[]): FieldSet {
    const [first, second] = sets;
    if (sets.length <= 2) return first && second ? first.union(second) : (first ?? new FieldSet());
    const made = new FieldSet();
    for (const set of sets) for (const member of set.members) made.members.add(member);
    for (const [element, children] of childrenByElement(sets))
      made.children.set(element, FieldSet.union(children));
    return made;
  }

  intersection(other: FieldSet): FieldSet {
    const made = new FieldSet();
    for (const member of this.members) if (other.members.has(member)) made.members.add(member);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs) made.#put(element, child.intersection(theirs));
    }
    return made;
  }

  /** Returns the set without the members of another set; fields below such a member stay. */
  difference(other: FieldSet): FieldSet {
    const made = new FieldSet();
    for (const member of this.members) if (!other.members.has(member)) made.members.add(member);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      made.#put(element, theirs ? child.difference(theirs) : child);
    }
    return made;
  }

  /** Returns the set without the members of another set and everything below them. */
  without(other: FieldSet): FieldSet {
    const made = new FieldSet();
    for (const member of this.members) if (!other.members.has(member)) made.members.add(member);
    for (const [element, child] of this.children) {
      if (other.members.has(element)) continue;
      const theirs = other.children.get(element);
      made.#put(element, theirs ? child.without(theirs) : child);
    }
    return made;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** Yields each member's path, parents first, in order. */
  *paths(prefix: FieldPath = []): Generator<FieldPath> {
    for (const member of inElementOrder(this.members)) yield [...prefix, member];
    for (const element of inElementOrder(this.children.keys()))
      yield* this.below(element).paths([...prefix, element]);
  }

  #put(element: PathElement, child: FieldSet): void {
    if (!child.isEmpty) this.children.set(element, child);
  }
}

const empty = new FieldSet();

function childrenByElement(sets: readonly FieldSet[]): Map<PathElement, FieldSet[]> {
  const below = new Map<PathElement, FieldSet[]>();
  for (const set of sets) {
    for (const [element, child] of set.children) {
      const same = below.get(element);
      if (same) same.push(child);
      else below.set(element, [child]);
    }
  }
  return below;
}

/** Formats a path: `.spec.containers[name="web"].image`. */
export const describePath = (path: FieldPath) => path.map(describeElement).join('');

/** Writes the set as FieldsV1; `.` marks an element with fields below it that is also a member. */
export function writeFields(set: FieldSet, isMember = false): JsonObject {
  const written: JsonObject = {};
  if (isMember) written['.'] = {};
  for (const element of inElementOrder(new Set([...set.members, ...set.children.keys()]))) {
    const child = set.children.get(element);
    const member = set.members.has(element);
    if (child && !child.isEmpty) setOwn(written, element, writeFields(child, member));
    else if (member) setOwn(written, element, {});
  }
  return written;
}

/**
 * Returns true if fields in FieldsV1 form may have a member of the set or something below one. Does not parse
 * the fields.
 */
export function touches(written: JsonObject, set: FieldSet): boolean {
  for (const member of set.members) if (Object.hasOwn(written, member)) return true;
  for (const [element, child] of set.children) {
    const below = Object.hasOwn(written, element) ? written[element] : undefined;
    if (isRecord(below) && touches(below, child)) return true;
  }
  return false;
}

/** Returns true if fields in FieldsV1 form have all members of the set. */
export function hasAll(written: JsonObject, set: FieldSet): boolean {
  const below = (element: PathElement) => {
    const found = Object.hasOwn(written, element) ? written[element] : undefined;
    return isRecord(found) ? found : undefined;
  };
  for (const member of set.members) {
    const found = below(member);
    if (!found || (!Object.hasOwn(found, '.') && Object.keys(found).length > 0)) return false;
  }
  for (const [element, child] of set.children) {
    const found = below(element);
    if (!child.isEmpty && (!found || !hasAll(found, child))) return false;
  }
  return true;
}

/**
 * Parses FieldsV1. Elements of an unknown kind are dropped. Throws an Error that names the malformed element.
 */
export function readFields(fields: unknown): FieldSet {
  return read(fields, 0).set;
}

/** Maximum depth. Objects are never this deep; a deeper text could exhaust the stack. */
const deepest = 100;

function read(fields: unknown, depth: number): { set: FieldSet; isMember: boolean } {
  if (!isRecord(fields)) throw new Error('fields are objects in objects');
  if (depth > deepest) throw new Error(`fields are more than ${deepest} steps deep`);
  const set = new FieldSet();
  for (const [key, below] of Object.entries(fields)) if (key !== '.') readElement(set, key, below, depth);
  return { set, isMember: Object.hasOwn(fields, '.') || set.isEmpty };
}

/** Adds an element and the fields below it to the set. */
function readElement(set: FieldSet, key: string, below: unknown, depth: number): void {
  const element = parseElement(key);
  if (element === undefined) return;
  const inner = read(below, depth + 1);
  if (inner.isMember) set.members.add(element);
  if (!inner.set.isEmpty) set.children.set(element, inner.set);
}
