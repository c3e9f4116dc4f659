/**
 * What each field of a kind may hold, and how lists and maps merge. The same model describes Kubernetes' own kinds
 * (from the generated table of fields) and ours (from their schemas); decoding, patching and the OpenAPI documents
 * read it.
 */
export type Scalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  /** Base64 text. */
  | 'bytes';

export type FieldType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'object'; readonly object: ObjectType }
  | { readonly kind: 'list'; readonly items: FieldType }
  | { readonly kind: 'map'; readonly values: FieldType }
  /** Anything, kept as it came. */
  | { readonly kind: 'any' };

/** How a list or an object is merged by a strategic merge patch and owned by server-side apply. */
export interface MergeRule {
  /** Strategic merge: lists merge by `patchKey`, or as sets when there is none; others are replaced. */
  readonly patchMerge?: true;
  readonly patchKey?: string;
  /** Strategic merge: a patch may name the only fields to keep (`$retainKeys`). */
  readonly retainKeys?: true;
  /** Server-side apply; lists that do not say are atomic, maps granular. */
  readonly listType?: 'map' | 'set';
  readonly listKeys?: readonly string[];
  readonly mapType?: 'atomic';
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly merge?: MergeRule;
  /** The values that the schema accepts, for a kind of our own. */
  readonly choices?: readonly string[];
  /** What the field is for, of a kind of our own. */
  readonly description?: string;
}

/** A type with named fields. `fields` may be computed on first use, so types can contain themselves. */
export interface ObjectType {
  /** As in the table of fields, such as `V1PodSpec`; for a kind of our own the kind or the path to the field. */
  readonly name: string;
  /** Server-side apply owns a value of this type as a whole. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  /** What a kind of our own is for. */
  readonly description?: string;
}

export interface FieldTable {
  /** Undefined for a name that is not in the table. */
  typeOf(name: string): ObjectType | undefined;
}

/** Throws for a name that is not in the table, which is a mistake of ours. */
export function requiredType(table: FieldTable, name: string): ObjectType {
  const type = table.typeOf(name);
  if (!type) throw new Error(`no type ${name} in the table of fields`);
  return type;
}

export const any: FieldType = { kind: 'any' };

/**
 * A table from lines such as `replicas:int32 selector!:V1LabelSelector containers:[]V1Container` by type name.
 * Merge rules are by `Type.field`. Lines are read on first use.
 */
export function createFieldTable(
  lines: Readonly<Record<string, string>>,
  rules: Readonly<Record<string, MergeRule>>,
  atomicTypes: ReadonlySet<string>,
): FieldTable {
  const types = new Map<string, ObjectType>();
  const typeOf = (name: string): ObjectType | undefined => {
    const known = types.get(name);
    if (known || !Object.hasOwn(lines, name)) return known;
    const made = lazyObjectType(name, atomicTypes.has(name), () => parseLine(name));
    types.set(name, made);
    return made;
  };
  const parseLine = (owner: string) => {
    const fields = new Map<string, Field>();
    for (const entry of (lines[owner] ?? '').split(' ').filter((text) => text !== '')) {
      const colon = entry.lastIndexOf(':');
      const required = entry[colon - 1] === '!';
      const name = entry.slice(0, required ? colon - 1 : colon);
      const merge = rules[`${owner}.${name}`];
      fields.set(name, {
        name,
        type: parseType(entry.slice(colon + 1)),
        required,
        ...(merge && { merge }),
      });
    }
    return fields;
  };
  const parseType = (text: string): FieldType => {
    if (text.startsWith('[]')) return { kind: 'list', items: parseType(text.slice(2)) };
    if (text.startsWith('{}')) return { kind: 'map', values: parseType(text.slice(2)) };
    if (text === 'any') return any;
    if (isScalar(text)) return { kind: 'scalar', scalar: text };
    const object = typeOf(text);
    if (!object) throw new Error(`the table of fields has no type ${text}`);
    return { kind: 'object', object };
  };
  return { typeOf };
}

export function lazyObjectType(
  name: string,
  atomic: boolean,
  makeFields: () => ReadonlyMap<string, Field>,
): ObjectType {
  let made: ReadonlyMap<string, Field> | undefined;
  return {
    name,
    atomic,
    get fields() {
      made ??= makeFields();
      return made;
    },
  };
}

/** The type's name without its version, as Kubernetes names the Go type: `V1PodSpec` → `PodSpec`. */
export const shortTypeName = (type: ObjectType) =>
  type.name.replace(/^[A-Z][A-Za-z]*?V\d+(?=[A-Z])|^V\d+(?=[A-Z])/, '');

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
