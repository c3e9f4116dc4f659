/** The fields of a value, which its applier owns; and a value without some of its fields. Pure. */
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import { byElement, listOf } from './compare.ts';
import { describePath, type FieldPath, FieldSet } from './field-set.ts';
import { describeElement, fieldElement, type PathElement } from './path-element.ts';
import {
  elementOf,
  isNamed,
  KeyError,
  type Shape,
  settled,
  shapeOfType,
  shapeUnder,
  stepUnder,
} from './shape.ts';

/**
 * Returns the fields of a value as it was written, without fields that Go would add. Throws a KeyError for a
 * list whose items have no keys, and with 'once' for a list with two items of the same key.
 */
export function fieldsOf(value: unknown, shape: Shape, items: 'once' | 'repeated' = 'repeated'): FieldSet {
  const set = new FieldSet();
  collect(value, settled(shape, value), set, undefined, items);
  return set;
}

/** The path to a value, as a linked list from its end. */
interface Way {
  readonly element: PathElement;
  readonly from: Way | undefined;
}

function pathOf(way: Way | undefined): FieldPath {
  const path: PathElement[] = [];
  for (let at = way; at; at = at.from) path.unshift(at.element);
  return path;
}

/** Fills `set` with the fields below a value that is not a leaf. */
function collect(
  value: unknown,
  shape: Shape,
  set: FieldSet,
  way: Way | undefined,
  often: 'once' | 'repeated',
): void {
  if (shape.kind === 'list') {
    collectItems(listOf(value), shape, set, way, often);
    return;
  }
  if ((shape.kind !== 'fields' && shape.kind !== 'map') || !isRecord(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const { element, shape: under } = stepUnder(shape, key);
    collectOne(inner, under, set, { element, from: way }, often);
    if (inner === null || isEmptyObject(inner) || !isNamed(shape, key)) set.members.add(element);
  }
}

function collectItems(
  list: readonly unknown[],
  shape: Shape & { kind: 'list' },
  set: FieldSet,
  way: Way | undefined,
  often: 'once' | 'repeated',
): void {
  const items = shapeOfType(shape.items);
  for (const [element, same] of byElement(list, shape)) {
    // Several items with the same key are owned as one.
    if (same.length === 1) collectOne(same[0], items, set, { element, from: way }, often);
    else if (often === 'once') throw duplicates(way, element);
    set.members.add(element);
  }
}

function collectOne(value: unknown, of: Shape, set: FieldSet, way: Way, often: 'once' | 'repeated'): void {
  const shape = settled(of, value);
  if (shape.kind === 'leaf') {
    set.members.add(way.element);
    return;
  }
  const below = new FieldSet();
  collect(value, shape, below, way, often);
  if (below.members.size > 0 || below.children.size > 0) set.children.set(way.element, below);
}

const duplicates = (way: Way | undefined, element: PathElement) =>
  new KeyError(`${describePath(pathOf(way))}: duplicate entries for key ${describeElement(element)}`);

const isEmptyObject = (value: unknown) => isRecord(value) && Object.keys(value).length === 0;

/**
 * Returns the value without the fields of the set and everything below them. A value that becomes empty is
 * null, as in Go: its own key remains for comparisons.
 */
export function withoutFields(value: unknown, set: FieldSet, of: Shape): unknown {
  const shape = settled(of, value);
  if (Array.isArray(value)) return shape.kind === 'list' ? withoutItems(value, set, shape) : null;
  if (!isRecord(value)) return value;
  return shape.kind === 'fields' || shape.kind === 'map' ? withoutKeys(value, set, shape) : null;
}

function withoutItems(list: readonly unknown[], set: FieldSet, shape: Shape & { kind: 'list' }): unknown {
  const left = list.flatMap((item) => {
    const element = elementOf(shape, item);
    if (set.members.has(element)) return [];
    return [remaining(item, set, element, shapeOfType(shape.items))];
  });
  return left.length > 0 ? left : null;
}

function withoutKeys(object: JsonObject, set: FieldSet, shape: Shape & { kind: 'fields' | 'map' }): unknown {
  const left: JsonObject = {};
  for (const [key, inner] of Object.entries(object)) {
    const element = fieldElement(key);
    if (inner === undefined || set.members.has(element)) continue;
    setOwn(left, key, remaining(inner, set, element, shapeUnder(shape, key)));
  }
  return Object.keys(left).length > 0 ? left : null;
}

function remaining(value: unknown, set: FieldSet, element: PathElement, shape: Shape): unknown {
  const below = set.below(element);
  return below.isEmpty ? value : withoutFields(value, below, shape);
}

/**
 * Returns the set with the named fields above each member: `spec.replicas` includes `spec`. A map's key or a
 * list's item is not included because of its content.
 */
export function withNamedParents(set: FieldSet, shape: Shape): FieldSet {
  const made = new FieldSet();
  for (const member of set.members) made.members.add(member);
  for (const [element, child] of set.children) {
    if (element.startsWith('f:') && isNamed(shape, element.slice(2))) made.members.add(element);
    made.children.set(element, withNamedParents(child, shapeBelow(shape, element)));
  }
  return made;
}

/** Returns the shape of the value to which an element leads. */
export function shapeBelow(shape: Shape, element: PathElement): Shape {
  if (shape.kind === 'list') return shapeOfType(shape.items);
  if ((shape.kind === 'fields' || shape.kind === 'map') && element.startsWith('f:'))
    return shapeUnder(shape, element.slice(2));
  return { kind: 'any' };
}

/**
 * Converts a set that was written when a list or an object was owned field by field and that has become
 * atomic: an owner of a part becomes the owner of the whole. Returns the same set when nothing has changed.
 */
export function withAtomicFields(set: FieldSet, shape: Shape): FieldSet {
  let changed = false;
  const made = new FieldSet();
  for (const member of set.members) made.members.add(member);
  for (const [element, child] of set.children) {
    const below = shapeBelow(shape, element);
    if (below.kind === 'leaf' && !child.isEmpty) {
      made.members.add(element);
      changed = true;
      continue;
    }
    const inner = withAtomicFields(child, below);
    if (inner !== child) changed = true;
    made.children.set(element, inner);
  }
  return changed ? made : set;
}
