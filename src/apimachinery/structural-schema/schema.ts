/**
 * A schema that is data: apiextensions.k8s.io/v1 JSONSchemaProps, as in CustomResourceDefinitions. Code that
 * reads a StructuralSchema may assume that `schemaCauses` found nothing in it.
 */
import { isRecord, type JsonObject } from '../equality.ts';
import { joinPath } from '../field-error.ts';

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** A rule in the Common Expression Language. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly reason?: string | undefined;
  readonly fieldPath?: string | undefined;
  readonly optionalOldSelf?: boolean | undefined;
}

export interface StructuralSchema {
  readonly type?: SchemaType | undefined;
  readonly format?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly nullable?: boolean | undefined;
  readonly example?: unknown;
  readonly externalDocs?: {
    readonly description?: string | undefined;
    readonly url?: string | undefined;
  };
  readonly enum?: readonly unknown[] | undefined;
  readonly pattern?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, StructuralSchema>> | undefined;
  readonly additionalProperties?: StructuralSchema | boolean | undefined;
  readonly items?: StructuralSchema | undefined;
  readonly allOf?: readonly StructuralSchema[] | undefined;
  readonly anyOf?: readonly StructuralSchema[] | undefined;
  readonly oneOf?: readonly StructuralSchema[] | undefined;
  readonly not?: StructuralSchema | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map' | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular' | undefined;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[] | undefined;
}

/** Schema as its author wrote it, which may also have keywords that are rejected. */
export interface WrittenSchema
  extends Omit<
    StructuralSchema,
    | 'type'
    | 'properties'
    | 'additionalProperties'
    | 'items'
    | 'allOf'
    | 'anyOf'
    | 'oneOf'
    | 'not'
    | 'x-kubernetes-list-type'
    | 'x-kubernetes-map-type'
  > {
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, WrittenSchema>> | undefined;
  readonly additionalProperties?: WrittenSchema | boolean | undefined;
  readonly items?: WrittenSchema | readonly WrittenSchema[] | undefined;
  readonly allOf?: readonly WrittenSchema[] | undefined;
  readonly anyOf?: readonly WrittenSchema[] | undefined;
  readonly oneOf?: readonly WrittenSchema[] | undefined;
  readonly not?: WrittenSchema | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-map-type'?: string | undefined;
  readonly id?: string | undefined;
  readonly $schema?: string | undefined;
  readonly $ref?: string | undefined;
  readonly definitions?: Readonly<Record<string, WrittenSchema>> | undefined;
  readonly dependencies?: Readonly<Record<string, unknown>> | undefined;
  readonly additionalItems?: unknown;
  readonly patternProperties?: Readonly<Record<string, WrittenSchema>> | undefined;
}

/** Fields that every object and every embedded object has in addition to those of its schema. */
export const headFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Returns the schema of a named property; undefined for a key that the schema does not name. */
export function propertyOf(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  const { properties } = schema;
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Returns the schema of all keys that the schema does not name; undefined when they have none. */
export const extraOf = ({ additionalProperties }: StructuralSchema): StructuralSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;

/** Returns the schema of a field of an object: the one of its name, or else the one of all other names. */
export const fieldSchema = (schema: StructuralSchema, key: string): StructuralSchema | undefined =>
  propertyOf(schema, key) ?? extraOf(schema);

/** Returns true if fields that the schema does not name are kept together with all that is in them. */
export const preservesUnknown = (schema: StructuralSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true;

export const isEmbedded = (schema: StructuralSchema): boolean =>
  schema['x-kubernetes-embedded-resource'] === true;

/** Returns the schemas of fields and items, with their paths in a definition. */
export function innerSchemas(
  { properties, items, additionalProperties }: StructuralSchema,
  path: string,
): (readonly [schema: StructuralSchema, path: string])[] {
  return [
    ...Object.entries(properties ?? {}).map(([key, inner]) => [inner, `${path}.properties[${key}]`] as const),
    ...(items ? [[items, `${path}.items`] as const] : []),
    ...(typeof additionalProperties === 'object'
      ? [[additionalProperties, `${path}.additionalProperties`] as const]
      : []),
  ];
}

/** A field or an item of a value, with its schema. */
export interface Member {
  readonly value: unknown;
  readonly schema: StructuralSchema;
  /** Path as in upstream's messages: keys that the schema does not name are in brackets. */
  readonly path: string;
}

/** Yields the fields and items of a value that have a schema. */
export function* membersOf(value: unknown, schema: StructuralSchema, path: string): Generator<Member> {
  const { items } = schema;
  if (Array.isArray(value)) {
    if (items)
      for (const [index, item] of value.entries())
        yield { value: item, schema: items, path: `${path}[${index}]` };
  } else if (isRecord(value)) yield* fieldsOf(value, schema, path);
}

function* fieldsOf(object: JsonObject, schema: StructuralSchema, path: string): Generator<Member> {
  const extra = extraOf(schema);
  for (const [key, value] of Object.entries(object)) {
    const own = propertyOf(schema, key);
    if (own) yield { value, schema: own, path: joinPath(path, key) };
    else if (extra) yield { value, schema: extra, path: `${path}[${key}]` };
  }
}
