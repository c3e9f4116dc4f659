/**
 * A kind whose schema is data (apiextensions.k8s.io JSONSchemaProps), as in CustomResourceDefinitions. A
 * schema that uses an unsupported keyword is rejected: a check that is silently skipped protects nothing.
 * Pure.
 */
import { isRecord, type JsonObject } from './equality.ts';
import { invalidCause, tooLongCause, tooManyCause } from './field-error.ts';
import { any, type Field, type FieldType, lazyObjectType, type ObjectType } from './field-types.ts';
import type { StatusCause } from './status-error.ts';

/** The supported part of JSONSchemaProps. */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

const known: ReadonlySet<string> = new Set([
  'type',
  'description',
  'properties',
  'additionalProperties',
  'items',
  'required',
  'default',
  'enum',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]);

/** Fields that every object has in addition to those of its schema. */
const head: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/**
 * Returns the object type of a schema. Throws, with the path, for an unsupported keyword. `meta` is the type
 * of metadata.
 */
export function objectTypeFromStructural(
  name: string,
  schema: StructuralSchema,
  meta: ObjectType,
): ObjectType {
  checkKnown(schema, '');
  const text: FieldType = { kind: 'scalar', scalar: 'string' };
  return lazyObjectType(name, false, () => {
    const fields = new Map<string, Field>([
      ['apiVersion', { name: 'apiVersion', type: text, required: false }],
      ['kind', { name: 'kind', type: text, required: false }],
      ['metadata', { name: 'metadata', type: { kind: 'object', object: meta }, required: false }],
    ]);
    for (const [key, field] of fieldsOf(name, schema)) if (!head.includes(key)) fields.set(key, field);
    return fields;
  });
}

function checkKnown(schema: StructuralSchema, path: string): void {
  for (const word of Object.keys(schema))
    if (!known.has(word)) throw new Error(`${path || 'the schema'}: ${word} is not supported`);
  for (const [key, inner] of Object.entries(schema.properties ?? {}))
    checkKnown(inner, path ? `${path}.${key}` : key);
  if (schema.additionalProperties) checkKnown(schema.additionalProperties, `${path}[*]`);
  if (schema.items) checkKnown(schema.items, `${path}[]`);
}

function fieldsOf(owner: string, schema: StructuralSchema): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const required = schema.required?.includes(key) ?? false;
    const merge = mergeOf(inner);
    fields.set(key, {
      name: key,
      type: typeOf(`${owner}.${key}`, inner),
      required,
      ...(merge && { merge }),
      ...(inner.enum && { choices: inner.enum.map(String) }),
      ...(inner.description && { description: inner.description }),
      rule: {
        acts: true,
        mandatory: required,
        ...(inner.default !== undefined && { default: inner.default }),
      },
    });
  }
  return fields;
}

function mergeOf(schema: StructuralSchema): Field['merge'] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') return { listType };
  if (listType === 'map') return { listType, listKeys: schema['x-kubernetes-list-map-keys'] ?? [] };
  return schema['x-kubernetes-map-type'] === 'atomic' ? { mapType: 'atomic' } : undefined;
}

function typeOf(name: string, schema: StructuralSchema): FieldType {
  if (schema['x-kubernetes-int-or-string']) return { kind: 'scalar', scalar: 'intOrString' };
  switch (schema.type) {
    case 'string':
      return { kind: 'scalar', scalar: 'string' };
    case 'boolean':
      return { kind: 'scalar', scalar: 'bool' };
    case 'integer':
      return { kind: 'scalar', scalar: schema.format === 'int32' ? 'int32' : 'int64' };
    case 'number':
      return { kind: 'scalar', scalar: 'double' };
    case 'array':
      return { kind: 'list', items: schema.items ? typeOf(name, schema.items) : any };
    case 'object':
      return objectType(name, schema);
    case undefined:
      return any;
  }
}

/** Returns the type of an object. An object that preserves unknown fields is kept unchanged as a whole. */
function objectType(name: string, schema: StructuralSchema): FieldType {
  if (schema['x-kubernetes-preserve-unknown-fields']) return any;
  if (schema.additionalProperties) return { kind: 'map', values: typeOf(name, schema.additionalProperties) };
  const atomic = schema['x-kubernetes-map-type'] === 'atomic';
  return { kind: 'object', object: lazyObjectType(name, atomic, () => fieldsOf(name, schema)) };
}

/**
 * Returns a cause for each limit of the schema that a value exceeds, in the words of upstream's validator
 * (go-openapi/validate).
 */
export function structuralCauses(value: unknown, schema: StructuralSchema, path = ''): StatusCause[] {
  if (typeof value === 'number') return numberCauses(value, schema, path);
  if (typeof value === 'string') return textCauses(value, schema, path);
  if (Array.isArray(value)) return listCauses(value, schema, path);
  return isRecord(value) ? memberCauses(value, schema, path) : [];
}

const wrong = (path: string, value: unknown, why: string) =>
  invalidCause(path, value, `${path} in body should ${why}`);

function numberCauses(value: number, { minimum, maximum }: StructuralSchema, path: string): StatusCause[] {
  if (minimum !== undefined && value < minimum)
    return [wrong(path, value, `be greater than or equal to ${minimum}`)];
  if (maximum !== undefined && value > maximum)
    return [wrong(path, value, `be less than or equal to ${maximum}`)];
  return [];
}

/** Lengths are counted in characters, not in bytes. */
function textCauses(value: string, { minLength, maxLength }: StructuralSchema, path: string): StatusCause[] {
  const { length } = [...value];
  if (minLength !== undefined && length < minLength)
    return [wrong(path, value, `be at least ${minLength} chars long`)];
  return maxLength !== undefined && length > maxLength ? [tooLongCause(path, maxLength)] : [];
}

function listCauses(
  value: readonly unknown[],
  { items, minItems, maxItems }: StructuralSchema,
  path: string,
): StatusCause[] {
  const { length } = value;
  if (minItems !== undefined && length < minItems)
    return [wrong(path, value, `have at least ${minItems} items`)];
  if (maxItems !== undefined && length > maxItems) return [tooManyCause(path, length, maxItems)];
  return items ? value.flatMap((item, index) => structuralCauses(item, items, `${path}[${index}]`)) : [];
}

function memberCauses(value: JsonObject, schema: StructuralSchema, path: string): StatusCause[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    const found = own ?? schema.additionalProperties;
    return found ? structuralCauses(inner, found, path ? `${path}.${key}` : key) : [];
  });
}
