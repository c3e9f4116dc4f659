/**
 * What each field of a kind may hold, its number in protobuf, and how lists and maps merge. The same model describes
 * Kubernetes' own kinds (from the generated table of types) and ours (from their schemas); decoding, patching and the
 * OpenAPI documents read it.
 */
import type { FieldRule } from './type-rules.ts';

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
  /** Go can tell its absence from its zero value. */
  readonly pointer?: true;
  /** Go leaves its zero value out of JSON: absent and zero are the same. */
  readonly omitsZero?: true;
  readonly merge?: MergeRule;
  /** The values that a text may have. */
  readonly choices?: readonly string[] | undefined;
  /** Undefined in a type that has no rules. */
  readonly rule?: FieldRule;
  /** What the field is for, of a kind of our own. */
  readonly description?: string;
}

/** What a number in protobuf stands for: a field, or a part, whose fields JSON shows in their parent. */
export type Member = { readonly field: Field } | { readonly part: ObjectType };

/** A type with named fields. `fields` may be computed on first use, so types can contain themselves. */
export interface ObjectType {
  /** As in the table of types, such as `core.v1.PodSpec`; for a kind of our own the kind or the path to the field. */
  readonly name: string;
  /** Server-side apply owns a value of this type as a whole. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  /** By number in protobuf; undefined for a type that has no numbers, such as those of minik8s' own kinds. */
  readonly members?: ReadonlyMap<number, Member>;
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
  if (!type) throw new Error(`no type ${name} in the table of types`);
  return type;
}

export const any: FieldType = { kind: 'any' };

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

/** The type's name in Go, without its package: `core.v1.PodSpec` → `PodSpec`. */
export const shortTypeName = ({ name }: ObjectType) => name.slice(name.lastIndexOf('.') + 1);

/** With the name that Go's messages give its package: `core.v1.PodSpec` → `v1.PodSpec`. */
export function goTypeName({ name }: ObjectType): string {
  const [type = '', version = 'v1'] = name.split('.').reverse();
  return `${version}.${type}`;
}
