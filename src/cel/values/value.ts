/**
 * Values of CEL. An int is a bigint, a double a number; errors are values that a logical operator may absorb.
 */
import type { Run } from '../evaluation/run.ts';
import type { Type } from '../types/type.ts';

export const maxInt = 2n ** 63n - 1n;
export const minInt = -(2n ** 63n);
export const maxUint = 2n ** 64n - 1n;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A failed evaluation. It is passed on by every operation but the logical ones and the conditional. */
export class Fault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export const noSuchOverload = new Fault('no such overload');

export abstract class List {
  abstract readonly length: number;
  /** Returns the element at an index that is in the list. */
  abstract at(index: number): Value;
}

export abstract class MapValue {
  abstract readonly size: number;
  abstract keys(): Iterable<Value>;
  abstract get(key: Value): Value | undefined;
}

/** An object with declared fields: not a map, so it has no size and cannot be iterated. */
export abstract class ObjectValue {
  abstract readonly typeName: string;
  /** Returns the field by its name in expressions; undefined when the object has no such field. */
  abstract get(field: string): Value | undefined;
  /** Returns whether the type declares the field. */
  abstract declares(field: string): boolean;
  /** Returns the fields that the object has, by their names in JSON. */
  abstract entries(): Iterable<readonly [property: string, Value]>;
  abstract equals(other: ObjectValue, run: Run): boolean;
}

export class Optional {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const none = new Optional(undefined);

/** A value that has functions only. Two of one type may be equal. */
export abstract class Opaque {
  /** Name of the type, such as `kubernetes.URL`. */
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
  /** Size for the cost of functions; undefined for values without one. */
  readonly size?: number;
}

export class Duration extends Opaque {
  readonly typeName = 'google.protobuf.Duration';
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
  equals(other: Opaque): boolean {
    return other instanceof Duration && other.nanos === this.nanos;
  }
}

/** A time, in nanoseconds since 1970. */
export class Timestamp extends Opaque {
  readonly typeName = 'google.protobuf.Timestamp';
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
  equals(other: Opaque): boolean {
    return other instanceof Timestamp && other.nanos === this.nanos;
  }
}

/** A type as a value. */
export class TypeValue extends Opaque {
  readonly typeName = 'type';
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
  equals(other: Opaque): boolean {
    return other instanceof TypeValue && other.name === this.name;
  }
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Uint8Array
  | List
  | MapValue
  | ObjectValue
  | Optional
  | Opaque;

export type Result = Value | Fault;

/** Returns the name that `type(value)` has. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<Value, boolean | bigint | number | string>): string {
  if (value === null) return 'null_type';
  if (value instanceof List) return 'list';
  if (value instanceof MapValue) return 'map';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Optional) return 'optional_type';
  return value.typeName;
}

/** Returns whether the value may be an argument of the type. Elements are not looked at, as upstream does. */
export function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'dyn' || scalarNames[type.name] === typeNameOf(value);
    case 'parameter':
      return true;
    case 'list':
      return value instanceof List;
    case 'map':
      return value instanceof MapValue;
    case 'type':
      return value instanceof TypeValue;
    case 'object':
    case 'opaque':
      return typeNameOf(value) === type.name;
  }
}

const scalarNames: Readonly<Record<string, string>> = {
  bool: 'bool',
  bytes: 'bytes',
  double: 'double',
  duration: 'google.protobuf.Duration',
  int: 'int',
  null_type: 'null_type',
  string: 'string',
  timestamp: 'google.protobuf.Timestamp',
  uint: 'uint',
};
