/** The types of messages, derived from the field types that have numbers, so that the two cannot disagree. */
import type { Field, FieldTable, FieldType, Member, ObjectType, Scalar } from '../field-types.ts';

export interface MessageType {
  /** Name in the table of types, such as `core.v1.PodSpec`. */
  readonly name: string;
  /** Fields by number; computed on first use, so types can contain themselves. */
  readonly fields: ReadonlyMap<number, MessageField>;
}

export type MessageField =
  | { readonly kind: 'part'; readonly message: MessageType }
  | {
      readonly kind: 'single' | 'list' | 'map';
      readonly name: string;
      readonly value: ValueType;
      readonly omitsZero: boolean;
    };

export type ValueType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'message'; readonly message: MessageType }
  /** JSON text in field 1, as in Go's RawExtension and FieldsV1. */
  | { readonly kind: 'raw' }
  /** A message for a list where protobuf allows none: field 1 repeats (Go's ExtraValue). */
  | { readonly kind: 'items'; readonly items: ValueType }
  /**
   * A message for a value of one of two types (Go's JSONSchemaPropsOrArray and the like): field 2 if it is
   * there, else field 1.
   */
  | { readonly kind: 'either'; readonly first: Alternative; readonly second: Alternative };

export interface Alternative {
  readonly value: ValueType;
  /** True if the value is a list, whose items repeat the field. */
  readonly isList: boolean;
}

export interface MessageTable {
  /** Returns undefined for a type without numbers, such as those of minik8s' own kinds. */
  typeOf(name: string): MessageType | undefined;
}

/** Type of an alternative by its name in the table of types, or a scalar; in brackets for a list. */
export type AlternativeName = string;

/**
 * Creates the table. `either` has the fields whose value is of one of two types, by the name of the owner and
 * the field, such as `apiextensions.v1.JSONSchemaProps.items`.
 */
export function createMessageTable(
  fields: FieldTable,
  either: Readonly<Record<string, readonly [AlternativeName, AlternativeName]>> = {},
): MessageTable {
  const types = new Map<string, MessageType>();

  const typeOf = (name: string): MessageType | undefined => {
    const known = types.get(name);
    const owner = fields.typeOf(name);
    if (known || !owner?.members?.size) return known;
    return messageOf(owner);
  };

  const messageOf = (owner: ObjectType): MessageType => {
    const known = types.get(owner.name);
    if (known) return known;
    const made = lazyMessageType(
      owner.name,
      () => new Map([...(owner.members ?? [])].map(([number, member]) => [number, memberOf(owner, member)])),
    );
    types.set(owner.name, made);
    return made;
  };

  const memberOf = (owner: ObjectType, member: Member): MessageField =>
    'part' in member ? { kind: 'part', message: messageOf(member.part) } : fieldOf(owner, member.field);

  const fieldOf = (owner: ObjectType, { name, type, omitsZero: omits }: Field): MessageField => {
    const omitsZero = omits === true && type.kind === 'scalar';
    const names = either[`${owner.name}.${name}`];
    const valueTypeFor = (of: FieldType): ValueType =>
      names
        ? { kind: 'either', first: alternativeOf(names[0]), second: alternativeOf(names[1]) }
        : valueTypeOf(of);
    if (type.kind === 'list') return { kind: 'list', name, value: valueTypeFor(type.items), omitsZero };
    if (type.kind === 'map') return { kind: 'map', name, value: valueTypeFor(type.values), omitsZero };
    return { kind: 'single', name, value: valueTypeFor(type), omitsZero };
  };

  const alternativeOf = (name: AlternativeName): Alternative => {
    const isList = name.startsWith('[');
    const inner = isList ? name.slice(1, -1) : name;
    const message = typeOf(inner);
    const value: ValueType = message
      ? { kind: 'message', message }
      : { kind: 'scalar', scalar: inner as Scalar };
    return { value, isList };
  };

  const valueTypeOf = (type: FieldType): ValueType => {
    switch (type.kind) {
      case 'scalar':
        return { kind: 'scalar', scalar: type.scalar };
      case 'any':
        return { kind: 'raw' };
      case 'list':
        return { kind: 'items', items: valueTypeOf(type.items) };
      case 'map':
        throw new Error('protobuf has no map inside a list or a map');
      case 'object':
        return { kind: 'message', message: messageOf(type.object) };
    }
  };

  return { typeOf };
}

function lazyMessageType(name: string, makeFields: () => ReadonlyMap<number, MessageField>): MessageType {
  let made: ReadonlyMap<number, MessageField> | undefined;
  return {
    name,
    get fields() {
      made ??= makeFields();
      return made;
    },
  };
}
