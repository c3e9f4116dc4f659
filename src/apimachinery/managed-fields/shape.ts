/**
 * How a value is owned, from the model of its kind: as one (a scalar, what is atomic), field by field, key by key, or item by item.
 * The rules are those of structured-merge-diff and of Kubernetes' OpenAPI (x-kubernetes-list-type, -map-type, -list-map-keys).
 */
import { isRecord } from '../equality.ts';
import { any, type Field, type FieldType, type MergeRule, type ObjectType } from '../field-types.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

export type Shape =
  /** Has one owner. */
  | { readonly kind: 'leaf' }
  | { readonly kind: 'fields'; readonly type: ObjectType }
  | { readonly kind: 'map'; readonly values: FieldType }
  /** Items known by these keys; by their values when there are none. */
  | { readonly kind: 'list'; readonly keys: readonly string[]; readonly items: FieldType }
  /** The value decides. */
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
      if (merge?.listType === 'map') return { kind: 'list', keys: merge.listKeys ?? [], items: type.items };
      return merge?.listType === 'set' ? { kind: 'list', keys: [], items: type.items } : leaf;
  }
}

/** What a value of any form is: objects key by key, everything else as one. */
export const settled = (shape: Shape, value: unknown): Shape => {
  if (shape.kind !== 'any') return shape;
  return isRecord(value) ? { kind: 'map', values: any } : leaf;
};

/** The shape of what stands under a key. */
export function shapeUnder(shape: Shape & { kind: 'fields' | 'map' }, key: string): Shape {
  if (shape.kind === 'map') return shapeOfType(shape.values);
  const field = shape.type.fields.get(key);
  return field ? shapeOfField(field) : anything;
}

/** Whether the key is the name of a field, and no key of a map. */
export const isNamed = (shape: Shape, key: string): boolean =>
  shape.kind === 'fields' && shape.type.fields.has(key);

/** A list of which an item has no key, or one that cannot be: the message says which. */
export class KeyError extends Error {}

/** The step to an item of a list. Throws a KeyError when the item has no key. */
export function elementOf(shape: Shape & { kind: 'list' }, item: unknown): PathElement {
  if (shape.keys.length === 0) {
    if (item === null) throw new KeyError('a set has an item that is null');
    if (typeof item === 'object') throw new KeyError('a set has an item that is no single value');
    return valueElement(item);
  }
  if (!isRecord(item)) throw new KeyError('a list with keys has an item that is no object');
  const key: Record<string, unknown> = {};
  for (const name of shape.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    key[name] = value ?? defaultOf(shape.items, name);
    if (key[name] === undefined) throw new KeyError(`an item lacks its key field ${JSON.stringify(name)}`);
  }
  return keyElement(key);
}

function defaultOf(items: FieldType, name: string): unknown {
  const field = items.kind === 'object' ? items.object.fields.get(name) : undefined;
  return field?.rule?.default ?? undefined;
}

/**
 * What an object has under a key, as Go's encoder would write it: a struct that is no pointer is always there, and so are the zero
 * values that it does not leave out. Objects here lack them; ownership is told as clients of a server in Go know it.
 */
export function valueUnder(shape: Shape, object: Readonly<Record<string, unknown>>, key: string): unknown {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value !== undefined || shape.kind !== 'fields') return value;
  const field = shape.type.fields.get(key);
  return field && isGo(shape.type) ? zeroOf(field) : undefined;
}

/** The keys of an object, and those of its fields that Go writes anyway. */
export function keysUnder(shape: Shape, object: Readonly<Record<string, unknown>>): readonly string[] {
  if (shape.kind !== 'fields' || !isGo(shape.type)) return Object.keys(object);
  const always = alwaysThere(shape.type);
  if (always.length === 0) return Object.keys(object);
  return [...new Set([...Object.keys(object), ...always])];
}

/** Types of Kubernetes' own kinds have numbers in protobuf, and are structs in Go. */
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

/** What Go writes for a field that was not set; undefined when it leaves it out. */
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
