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
  | { readonly kind: 'items'; readonly items: ValueType };

export interface MessageTable {
  /** Returns undefined for a type without numbers, such as those of minik8s' own kinds. */
  typeOf(name: string): MessageType | undefined;
}

export function createMessageTable(fields: FieldTable): MessageTable {
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
      () => new Map([...(owner.members ?? [])].map(([number, member]) => [number, memberOf(member)])),
    );
    types.set(owner.name, made);
    return made;
  };

  const memberOf = (member: Member): MessageField =>
    'part' in member ? { kind: 'part', message: messageOf(member.part) } : fieldOf(member.field);

  const fieldOf = ({ name, type, omitsZero: omits }: Field): MessageField => {
    const omitsZero = omits === true && type.kind === 'scalar';
    if (type.kind === 'list') return { kind: 'list', name, value: valueTypeOf(type.items), omitsZero };
    if (type.kind === 'map') return { kind: 'map', name, value: valueTypeOf(type.values), omitsZero };
    return { kind: 'single', name, value: valueTypeOf(type), omitsZero };
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
