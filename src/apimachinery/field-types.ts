/**
 * The value type of each field of a kind, its protobuf number, and its merge rules. The same model describes
 * Kubernetes' own kinds (from the generated table of types) and minik8s' kinds (from their described types).
 * Decoding, patching and the OpenAPI documents read it.
 */
import type { JsonObject } from './equality.ts';

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
  /** Any value, kept unchanged. */
  | { readonly kind: 'any' };

/**
 * Rules by which a strategic merge patch merges a list or an object, and by which server-side apply owns it.
 */
export interface MergeRule {
  /** Strategic merge: the list merges by `patchKey`, or as a set without a key. Other lists are replaced. */
  readonly patchMerge?: true;
  readonly patchKey?: string;
  /** Strategic merge: a patch may name the only fields to keep (`$retainKeys`). */
  readonly retainKeys?: true;
  /** Server-side apply; lists without a list type are atomic, maps are granular. */
  readonly listType?: 'map' | 'set';
  readonly listKeys?: readonly string[];
  readonly mapType?: 'atomic';
}

/** Minimum and maximum; both are allowed values. */
export type Limits = readonly [least: number, greatest?: number];

/** The rules of a type for one of its fields. */
export interface FieldRule {
  /** False if minik8s keeps the field and does not act on it. */
  readonly acts: boolean;
  readonly mandatory: boolean;
  readonly default?: unknown;
  /** Values that cause no warning although minik8s does not act on the field; `any` for every value. */
  readonly quiet?: readonly unknown[] | 'any';
  readonly limits?: Limits;
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  /** Go distinguishes the field's absence from its zero value. */
  readonly pointer?: true;
  /** Go omits the field's zero value from JSON: absent and zero are the same. */
  readonly omitsZero?: true;
  readonly merge?: MergeRule;
  /** Values that a text field may have. */
  readonly choices?: readonly string[] | undefined;
  /** Undefined in a type that has no rules. */
  readonly rule?: FieldRule;
  /** Purpose of the field, for a minik8s kind. */
  readonly description?: string;
}

/** A protobuf number stands for a field, or for an embedded part whose fields JSON shows in the parent. */
export type Member = { readonly field: Field } | { readonly part: ObjectType };

/** A type with named fields. `fields` may be computed on first use, so types can contain themselves. */
export interface ObjectType {
  /**
   * Name in the table of types, such as `core.v1.PodSpec`; for a minik8s kind, the kind or the path to the
   * field.
   */
  readonly name: string;
  /** Server-side apply owns a value of this type as a whole. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  /**
   * Members by protobuf number; undefined for a type without numbers, such as those of minik8s' own kinds.
   */
  readonly members?: ReadonlyMap<number, Member> | undefined;
  /** Purpose of a minik8s kind. */
  readonly description?: string;
  /** Present in a type whose schema is data, which the OpenAPI documents publish in place of the fields. */
  readonly published?: PublishedSchema;
}

/** Schema of a type in the OpenAPI documents. */
export interface PublishedSchema {
  /** Name of the schema, such as `com.example.v1.Widget`. */
  readonly name: string;
  /** Type of the metadata; the schema refers to it. */
  readonly meta: ObjectType;
  /**
   * Returns the schema for a version of OpenAPI. `metaReference` refers to the type of metadata; `texts` are
   * descriptions of apiVersion and kind, where they are known.
   */
  schema(version: 2 | 3, metaReference: JsonObject, texts?: Readonly<Record<string, string>>): JsonObject;
  /** Approximate number of bytes of the schema. */
  readonly bytes: number;
}

export interface FieldTable {
  /** Returns undefined for a name that is not in the table. */
  typeOf(name: string): ObjectType | undefined;
}

/** Returns the type; throws for a name that is not in the table, which is a programming error. */
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

/** Returns the type's name in Go, without its package: `core.v1.PodSpec` → `PodSpec`. */
export const shortTypeName = ({ name }: ObjectType) => name.slice(name.lastIndexOf('.') + 1);

/** Returns the type's name with the package as Go's messages have it: `core.v1.PodSpec` → `v1.PodSpec`. */
export function goTypeName({ name }: ObjectType): string {
  const [type = '', version = 'v1'] = name.split('.').reverse();
  return `${version}.${type}`;
}
