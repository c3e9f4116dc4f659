/** Values of JSON as values of CEL. Only what an expression reads is converted. */
import type { Run } from '../evaluation/run.ts';
import {
  dyn,
  type FieldType,
  fieldOf,
  isDyn,
  type ListType,
  type MapType,
  type ObjectType,
  type Type,
} from '../types/type.ts';
import { equal } from './equal.ts';
import { parseDuration, parseTimestamp } from './time.ts';
import { UnorderedList } from './unordered.ts';
import {
  Fault,
  List,
  MapValue,
  ObjectValue,
  Opaque,
  Optional,
  type Result,
  Uint,
  type Value,
} from './value.ts';

/** Returns the value that JSON of the type stands for; a value of CEL is returned as it is. */
export function fromJson(json: unknown, type: Type): Result {
  switch (typeof json) {
    case 'string':
      return type.kind === 'scalar' && type.name !== 'string' && type.name !== 'dyn'
        ? fromText(json, type.name)
        : json;
    case 'boolean':
    case 'bigint':
      return json;
    case 'number':
      return fromNumber(json, type);
    case 'object':
      return json === null ? null : fromObject(json, type);
    default:
      return new Fault('unsupported conversion');
  }
}

function fromNumber(json: number, type: Type): Value {
  const isDouble = type.kind === 'scalar' && type.name === 'double';
  return !isDouble && Number.isSafeInteger(json) ? BigInt(json) : json;
}

function fromText(text: string, type: string): Result {
  if (type === 'timestamp') {
    return parseTimestamp(text.length === 10 ? `${text}T00:00:00Z` : text) ?? new Fault('invalid timestamp');
  }
  if (type === 'duration') return parseDuration(text) ?? new Fault('invalid duration');
  return type === 'bytes' ? fromBase64(text) : text;
}

function fromBase64(text: string): Result {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return new Fault('invalid base64');
  }
}

function fromObject(json: object, type: Type): Result {
  if (isValue(json)) return json;
  const isList = Array.isArray(json);
  if (!isDyn(type) && isList !== (type.kind === 'list')) return new Fault('unsupported conversion');
  if (isList) return fromArray(json, type);
  // The object is no array, and no value of CEL.
  const record = json as Readonly<Record<string, unknown>>;
  return type.kind === 'object' ? new JsonObject(record, type) : new JsonMap(record, type);
}

function fromArray(json: readonly unknown[], type: Type): List {
  if (type.kind === 'list' && type.uniqueBy !== undefined)
    return new JsonUnordered(json, type.element, type.uniqueBy);
  return new JsonList(json, elementOf(type));
}

function elementOf(type: Type): Type {
  return type.kind === 'list' ? (type satisfies ListType).element : dyn;
}

function isValue(
  json: object,
): json is Uint | Uint8Array | List | MapValue | ObjectValue | Optional | Opaque {
  return classes.some((each) => json instanceof each);
}

const classes = [Opaque, List, MapValue, ObjectValue, Optional, Uint, Uint8Array] as const;

/**
 * Returns a value in a list or a map; null in place of a fault. Upstream fails only where the value is used,
 * too.
 */
function element(json: unknown, type: Type): Value {
  const value = json === undefined ? null : fromJson(json, type);
  return value instanceof Fault ? null : value;
}

class JsonList extends List {
  readonly length: number;
  private readonly json: readonly unknown[];
  private readonly element: Type;

  constructor(json: readonly unknown[], elementType: Type) {
    super();
    this.json = json;
    this.element = elementType;
    this.length = json.length;
  }

  at(index: number): Value {
    return element(this.json[index], this.element);
  }
}

class JsonUnordered extends UnorderedList {
  readonly uniqueBy: 'value' | readonly string[];
  private readonly list: JsonList;

  constructor(json: readonly unknown[], elementType: Type, uniqueBy: 'value' | readonly string[]) {
    super();
    this.list = new JsonList(json, elementType);
    this.uniqueBy = uniqueBy;
  }

  get length(): number {
    return this.list.length;
  }

  at(index: number): Value {
    return this.list.at(index);
  }
}

class JsonMap extends MapValue {
  private readonly json: Readonly<Record<string, unknown>>;
  private readonly value: Type;
  private names: readonly string[] | undefined;

  constructor(json: Readonly<Record<string, unknown>>, type: Type) {
    super();
    this.json = json;
    this.value = type.kind === 'map' ? (type satisfies MapType).value : dyn;
  }

  get size(): number {
    return this.keys().length;
  }

  keys(): readonly string[] {
    this.names ??= Object.keys(this.json);
    return this.names;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.json, key)) return undefined;
    const found = this.json[key];
    return found === undefined ? undefined : element(found, this.value);
  }
}

/** An object with declared fields. */
class JsonObject extends ObjectValue {
  private readonly json: Readonly<Record<string, unknown>>;
  private readonly type: ObjectType;

  constructor(json: Readonly<Record<string, unknown>>, type: ObjectType) {
    super();
    this.json = json;
    this.type = type;
  }

  get typeName(): string {
    return this.type.name;
  }

  declares(field: string): boolean {
    return fieldOf(this.type, field) !== undefined;
  }

  get(field: string): Value | undefined {
    const declared = fieldOf(this.type, field);
    return declared === undefined ? undefined : this.read(declared);
  }

  *entries(): Iterable<readonly [string, Value]> {
    for (const declared of this.type.fields.values()) {
      const value = this.read(declared);
      if (value !== undefined) yield [declared.property, value];
    }
  }

  private read({ property, type }: FieldType): Value | undefined {
    if (!Object.hasOwn(this.json, property)) return undefined;
    const found = this.json[property];
    return found === undefined ? undefined : element(found, type);
  }

  equals(other: ObjectValue, run: Run): boolean {
    run.work(this.type.fields.size);
    for (const [field, declared] of this.type.fields) {
      const own = this.read(declared);
      const theirs = other.get(field);
      if (own === undefined || theirs === undefined) {
        if (own !== theirs) return false;
      } else if (!equal(own, theirs, run)) return false;
    }
    return true;
  }
}
