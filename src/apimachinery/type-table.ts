/**
 * The generated table of types. A line has an entry for each field, such as
 *
 *   2=containers!:[]Container;merge=name;map=name
 *
 * An entry has the number in protobuf (none for a field that protobuf does not carry), the name in JSON (none
 * for a part, whose fields stand in their parent), `!` for a required field, `?` for a field whose zero value
 * Go omits, the type, and the merge rules:
 *
 *   merge, merge=name        strategic merge patch: as a set, by a key
 *   retain                   strategic merge patch: `$retainKeys`
 *   set, map=port+protocol   server-side apply: as a set, by keys
 *   atomic                   server-side apply: as a whole
 *
 * A type is a scalar, the name of a type (without the package for a type of the same package), `[]` for a
 * list, `{}` for a map, or `*` for a pointer. A line that begins with `{}` is a type that server-side apply
 * owns as a whole.
 */
import {
  any,
  type Field,
  type FieldTable,
  type FieldType,
  type Member,
  type MergeRule,
  type ObjectType,
  type Scalar,
} from './field-types.ts';
import { type RulesByType, ruledField, type TypeRules } from './type-rules.ts';

/** A table that adds described types to another table. */
interface Added {
  /** Has the types that the lines do not have. */
  readonly base: FieldTable;
  /** Descriptions by type, then by field; the empty field stands for the type itself. */
  readonly texts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Creates the table. Lines are read on first use, so that types can contain themselves. `choices` are texts
 * by type name.
 */
export function createTypeTable(
  lines: Readonly<Record<string, string>>,
  choices: Readonly<Record<string, string>>,
  rules: RulesByType = {},
  added?: Added,
): FieldTable {
  const types = new Map<string, ObjectType>();
  const textOf = (name: string, field: string) => {
    const description = added?.texts[name]?.[field];
    return description === undefined ? {} : { description };
  };
  const typeOf = (name: string): ObjectType | undefined => {
    const known = types.get(name);
    if (known) return known;
    if (!Object.hasOwn(lines, name)) return added?.base.typeOf(name);
    const made = Object.assign(
      new TableType(
        name,
        lines[name] ?? '',
        Object.hasOwn(rules, name) ? rules[name] : undefined,
        fieldOf,
        added === undefined,
      ),
      textOf(name, ''),
    );
    types.set(name, made);
    return made;
  };

  const fieldOf = (owner: string, entry: Entry): Field => {
    const { name, type, required, omitsZero } = entry;
    const inner = bare(type);
    const full = inner.includes('.') ? inner : `${packageOf(owner)}${inner}`;
    const texts = Object.hasOwn(choices, full) ? choices[full] : undefined;
    const merge = mergeRule(entry.rules);
    return {
      name,
      type:
        texts === undefined
          ? parseType(type, full, typeOf)
          : parseType(type.replace(inner, 'string'), 'string', typeOf),
      required,
      ...(type.startsWith('*') && { pointer: true as const }),
      ...(omitsZero && { omitsZero: true as const }),
      ...(merge && { merge }),
      ...(texts !== undefined && inner === type.replace('*', '') && { choices: texts.split(',') }),
      ...textOf(owner, name),
    };
  };

  return { typeOf };
}

/** Parses a field's type; `inner` is the full name of the type behind the prefixes `*`, `[]` and `{}`. */
function parseType(text: string, inner: string, typeOf: (name: string) => ObjectType | undefined): FieldType {
  if (text.startsWith('*')) return parseType(text.slice(1), inner, typeOf);
  if (text.startsWith('[]')) return { kind: 'list', items: parseType(text.slice(2), inner, typeOf) };
  if (text.startsWith('{}')) return { kind: 'map', values: parseType(text.slice(2), inner, typeOf) };
  if (text === 'any') return any;
  if (isScalar(text)) return { kind: 'scalar', scalar: text };
  const object = typeOf(inner);
  if (!object) throw new Error(`the table of types has no ${inner}`);
  return { kind: 'object', object };
}

interface Entry {
  readonly number: number | undefined;
  readonly name: string;
  readonly required: boolean;
  readonly omitsZero: boolean;
  readonly type: string;
  readonly rules: readonly string[];
}

class TableType implements ObjectType {
  readonly name: string;
  readonly atomic: boolean;
  readonly #entries: readonly string[];
  readonly #rules: TypeRules | undefined;
  readonly #fieldOf: (owner: string, entry: Entry) => Field;
  readonly #hasNumbers: boolean;
  #fields: ReadonlyMap<string, Field> | undefined;
  #members: ReadonlyMap<number, Member> | undefined;

  constructor(
    name: string,
    line: string,
    rules: TypeRules | undefined,
    fieldOf: (owner: string, entry: Entry) => Field,
    hasNumbers: boolean,
  ) {
    const entries = line.split(' ').filter((text) => text !== '');
    this.name = name;
    this.atomic = entries[0] === '{}';
    this.#entries = this.atomic ? entries.slice(1) : entries;
    this.#rules = rules;
    this.#fieldOf = fieldOf;
    this.#hasNumbers = hasNumbers;
  }

  get fields(): ReadonlyMap<string, Field> {
    this.#fields ?? this.#read();
    return this.#fields ?? new Map();
  }

  get members(): ReadonlyMap<number, Member> | undefined {
    if (!this.#hasNumbers) return undefined;
    this.#members ?? this.#read();
    return this.#members ?? new Map();
  }

  #read(): void {
    const fields = new Map<string, Field>();
    const members = new Map<number, Member>();
    for (const entry of this.#entries.map(parseEntry)) {
      const field = this.#ruled(this.#fieldOf(this.name, entry));
      if (field.name !== '') {
        fields.set(field.name, field);
        if (entry.number !== undefined) members.set(entry.number, { field });
        continue;
      }
      const part = this.#partOf(field);
      for (const [name, inner] of part.fields) fields.set(name, this.#ruled(inner));
      if (entry.number !== undefined) members.set(entry.number, { part });
    }
    this.#fields = fields;
    this.#members = members;
  }

  /** Returns the type whose fields stand in this type, as those of an embedded struct in Go. */
  #partOf({ type }: Field): ObjectType {
    if (type.kind !== 'object') throw new Error(`${this.name} in the table of types: a part is no object`);
    return type.object;
  }

  #ruled(field: Field): Field {
    return this.#rules ? ruledField(field, this.#rules) : field;
  }
}

function parseEntry(text: string): Entry {
  const [, number, name = '', flags = '', type = '', rules = ''] =
    /^(\d*)=([^!?:]*)([!?]*):([^;]+)((?:;.*)?)$/.exec(text) ?? [];
  if (!type) throw new Error(`the table of types: ${text} is not a field`);
  return {
    number: number ? Number(number) : undefined,
    name,
    required: flags.includes('!'),
    omitsZero: flags.includes('?'),
    type,
    rules: rules.split(';').filter((rule) => rule !== ''),
  };
}

function mergeRule(rules: readonly string[]): MergeRule | undefined {
  if (rules.length === 0) return undefined;
  const byName = new Map(
    rules.map((rule): [string, string | undefined] => {
      const [name = '', value] = rule.split('=');
      return [name, value];
    }),
  );
  const patchKey = byName.get('merge');
  return {
    ...(byName.has('merge') && { patchMerge: true as const }),
    ...(patchKey !== undefined && { patchKey }),
    ...(byName.has('retain') && { retainKeys: true as const }),
    ...(byName.has('map') && { listType: 'map' as const, listKeys: byName.get('map')?.split('+') ?? [] }),
    ...(byName.has('set') && { listType: 'set' as const }),
    ...(byName.has('atomic') && { mapType: 'atomic' as const }),
  };
}

const bare = (type: string) => type.replace(/^(?:\*|\[\]|\{\})+/, '');
const packageOf = (name: string) => name.slice(0, name.lastIndexOf('.') + 1);

const scalarNames: ReadonlySet<string> = new Set<Scalar>([
  'string',
  'bool',
  'int32',
  'int64',
  'double',
  'time',
  'microTime',
  'quantity',
  'intOrString',
  'bytes',
]);

const isScalar = (text: string): text is Scalar => scalarNames.has(text);
