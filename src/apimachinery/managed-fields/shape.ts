/**
 * The unit of ownership of a value, from the model of its kind: the whole value (a scalar, an atomic value),
 * each field, each key, or each item. The rules are those of structured-merge-diff and of Kubernetes' OpenAPI
 * (x-kubernetes-list-type, -map-type, -list-map-keys).
 */
import { isRecord } from '../equality.ts';
import { any, type Field, type FieldType, type MergeRule, type ObjectType } from '../field-types.ts';
import { fieldElement, type PathElement, valueElement } from './path-element.ts';

export type Shape =
  /** A value with a single owner. */
  | { readonly kind: 'leaf' }
  | { readonly kind: 'fields'; readonly type: ObjectType }
  | { readonly kind: 'map'; readonly values: FieldType }
  /**
   * Items identified by these keys, in the order of the keys' names; by their values when there are no keys.
   */
  | { readonly kind: 'list'; readonly keys: readonly string[]; readonly items: FieldType }
  /** A shape that depends on the value. */
  | { readonly kind: 'any' };

const leaf: Shape = { kind: 'leaf' };
const anything: Shape = { kind: 'any' };

const fieldShapes = new WeakMap<Field, Shape>();
const typeShapes = new WeakMap<FieldType, Shape>();

export function shapeOfField(field: Field): Shape {
  let shape = fieldShapes.get(field);
  if (!shape) {
    shape = makeShape(field.type, field.merge);
    fieldShapes.set(field, shape);
  }
  return shape;
}

export function shapeOfType(type: FieldType): Shape {
  let shape = typeShapes.get(type);
  if (!shape) {
    shape = makeShape(type, undefined);
    typeShapes.set(type, shape);
  }
  return shape;
}

function makeShape(type: FieldType, merge: MergeRule | undefined): Shape {
  switch (type.kind) {
    case 'scalar':
      return leaf;
    case 'any':
      return anything;
    case 'object':
      return type.object.atomic || merge?.mapType === 'atomic' ? leaf : { kind: 'fields', type: type.object };
    case 'map':
      return merge?.mapType === 'atomic' ? leaf : { kind: 'map', values: type.values };
    case 'list':
      return listShape(type.items, merge);
  }
}

function listShape(items: FieldType, merge: MergeRule | undefined): Shape {
  if (merge?.listType === 'map') return { kind: 'list', keys: [...(merge.listKeys ?? [])].sort(), items };
  return merge?.listType === 'set' ? { kind: 'list', keys: [], items } : leaf;
}

/** Resolves a shape that depends on the value: an object is owned key by key, any other value as a whole. */
export const settled = (shape: Shape, value: unknown): Shape => {
  if (shape.kind !== 'any') return shape;
  return isRecord(value) ? { kind: 'map', values: any } : leaf;
};

/** Returns the shape of the value under a key. */
export function shapeUnder(shape: Shape & { kind: 'fields' | 'map' }, key: string): Shape {
  if (shape.kind === 'map') return shapeOfType(shape.values);
  const field = shape.type.fields.get(key);
  return field ? shapeOfField(field) : anything;
}

/** A field of an object, or a key of a map. */
export interface Step {
  readonly element: PathElement;
  readonly shape: Shape;
}

const stepsOf = new WeakMap<ObjectType, Map<string, Step>>();

export function stepUnder(shape: Shape & { kind: 'fields' | 'map' }, key: string): Step {
  if (shape.kind === 'map') return { element: fieldElement(key), shape: shapeOfType(shape.values) };
  let steps = stepsOf.get(shape.type);
  if (!steps) {
    steps = new Map();
    for (const [name, field] of shape.type.fields)
      steps.set(name, { element: fieldElement(name), shape: shapeOfField(field) });
    stepsOf.set(shape.type, steps);
  }
  return steps.get(key) ?? { element: fieldElement(key), shape: anything };
}

/** Returns true if the key is the name of a field and not the key of a map. */
export const isNamed = (shape: Shape, key: string): boolean =>
  shape.kind === 'fields' && shape.type.fields.has(key);

/** Thrown for a list item without a key or with an invalid key; the message names the problem. */
export class KeyError extends Error {}

/** Returns the path element of a list item. Throws a KeyError when the item has no key. */
export function elementOf(shape: Shape & { kind: 'list' }, item: unknown): PathElement {
  if (shape.keys.length === 0) return elementOfSet(item);
  if (!isRecord(item)) throw new KeyError('a list with keys has an item that is no object');
  let text = '';
  for (const name of shape.keys) {
    const value = (Object.hasOwn(item, name) ? item[name] : undefined) ?? defaultOf(shape.items, name);
    if (value === undefined) throw new KeyError(`an item lacks its key field ${JSON.stringify(name)}`);
    text += `${text && ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `k:{${text}}`;
}

function elementOfSet(item: unknown): PathElement {
  if (item === null) throw new KeyError('a set has an item that is null');
  if (typeof item === 'object') throw new KeyError('a set has an item that is no single value');
  return valueElement(item);
}

function defaultOf(items: FieldType, name: string): unknown {
  const field = items.kind === 'object' ? items.object.fields.get(name) : undefined;
  return field?.rule?.default ?? undefined;
}

/**
 * Returns the value under a key as Go's encoder would write it: a struct that is not a pointer always exists,
 * and so do zero values that Go does not omit. Objects in minik8s lack these values; with them, ownership is
 * the same as that of a server in Go.
 */
export function valueUnder(shape: Shape, object: Readonly<Record<string, unknown>>, key: string): unknown {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value !== undefined || shape.kind !== 'fields') return value;
  const field = shape.type.fields.get(key);
  return field && isGo(shape.type) ? zeroOf(field) : undefined;
}

/** Returns the fields of an existing object that Go writes even if they were not set. */
export const alwaysUnder = (shape: Shape): readonly string[] =>
  shape.kind === 'fields' && isGo(shape.type) ? alwaysThere(shape.type) : [];

/** Returns true for types of Kubernetes' own kinds, which have protobuf numbers and are structs in Go. */
const isGo = (type: ObjectType) => type.members !== undefined;

const alwaysThereOf = new WeakMap<ObjectType, readonly string[]>();

function alwaysThere(type: ObjectType): readonly string[] {
  let names = alwaysThereOf.get(type);
  if (!names) {
    names = [...type.fields.values()].filter((field) => zeroOf(field) !== undefined).map(({ name }) => name);
    alwaysThereOf.set(type, names);
  }
  return names;
}

const nothing = Object.freeze({});

/** Returns the value that Go writes for a field that was not set; undefined when Go omits the field. */
function zeroOf({ type, pointer, omitsZero }: Field): unknown {
  if (pointer) return undefined;
  if (type.kind === 'object') return nothing;
  if (omitsZero || type.kind === 'any') return undefined;
  if (type.kind !== 'scalar') return null;
  switch (type.scalar) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'time':
    case 'microTime':
    case 'bytes':
      return null;
  }
}
