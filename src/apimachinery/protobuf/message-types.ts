/**
 * Which field of a kind has which number. The table holds only what protobuf adds to the table of fields: numbers,
 * parts that JSON shows in their parent, and which zero values Go leaves out of JSON. Types come from the table of
 * fields, so the two cannot disagree.
 *
 * A line such as `1:name 2:image? 3:^V1VolumeSource` gives each number its JSON name. `?` marks a scalar that Go
 * writes always but means as absent when it is zero: not a pointer, and `omitempty` in JSON. `^` marks a part whose
 * fields stand in the parent; its own line names fields of whatever type contains it.
 */
import type { FieldTable, FieldType, ObjectType, Scalar } from '../field-types.ts';

export interface MessageType {
  /** As in the table of fields, such as `V1PodSpec`. */
  readonly name: string;
  /** By number; computed on first use, so types can contain themselves. */
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
  /** JSON text in field 1, which Go calls RawExtension or FieldsV1. */
  | { readonly kind: 'raw' }
  /** A message for a list where protobuf allows none: field 1 repeats. Go calls it ExtraValue. */
  | { readonly kind: 'items'; readonly items: ValueType };

export interface MessageTable {
  /** Undefined for a type that has no numbers, such as one of minik8s' own kinds. */
  typeOf(name: string): MessageType | undefined;
}

export function createMessageTable(
  lines: Readonly<Record<string, string>>,
  fields: FieldTable,
): MessageTable {
  const types = new Map<string, MessageType>();

  const typeOf = (name: string): MessageType | undefined => {
    const known = types.get(name);
    const owner = fields.typeOf(name);
    if (known || !owner || !Object.hasOwn(lines, name)) return known;
    const made = lazyMessageType(name, () => parseLine(name, owner));
    types.set(name, made);
    return made;
  };

  const parseLine = (name: string, owner: ObjectType): Map<number, MessageField> => {
    const line = lines[name];
    if (line === undefined) throw new Error(`the table of field numbers has no type ${name}`);
    const entries = line.split(' ').filter((text) => text !== '');
    return new Map(
      entries.map((entry): [number, MessageField] => {
        const [, number, part, field, zero] = /^(\d+):(\^?)([^?]+)(\??)$/.exec(entry) ?? [];
        if (!field) throw new Error(`${name} in the table of field numbers: ${entry} is not a field`);
        if (!part) return [Number(number), fieldOf(owner, field, zero === '?')];
        return [
          Number(number),
          { kind: 'part', message: lazyMessageType(field, () => parseLine(field, owner)) },
        ];
      }),
    );
  };

  const fieldOf = (owner: ObjectType, name: string, omitsZero: boolean): MessageField => {
    const type = owner.fields.get(name)?.type;
    if (!type) throw new Error(`the table of fields has no ${name} in ${owner.name}`);
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
      case 'object': {
        const message = typeOf(type.object.name);
        if (!message) throw new Error(`the table of field numbers has no type ${type.object.name}`);
        return { kind: 'message', message };
      }
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
