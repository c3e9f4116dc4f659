/**
 * Types of the Common Expression Language for values of a schema, with their greatest sizes for estimates of
 * cost (k8s.io/apiserver/pkg/cel/common/schemas.go). Pure.
 */
import {
  extraOf,
  isEmbedded,
  type StructuralSchema,
} from '../../../apimachinery/structural-schema/schema.ts';
import { propertyName } from '../../../cel/property-name.ts';
import * as types from '../../../cel/types/type.ts';

/** A type, and the least number of bytes of its JSON. */
export interface SizedType {
  readonly type: types.Type;
  readonly minBytes: number;
}

/** Upstream's limit for a request, from which the sizes of values follow that have no limit of their own. */
const maxRequestBytes = 3 * 1024 * 1024;

/** Returns the greatest number of values of such a size in a request. */
export const maxCardinality = (minBytes: number): number => Math.floor(maxRequestBytes / (minBytes + 1));

/**
 * Returns the type of a schema's values; undefined if expressions cannot see them, such as lists of any
 * values. With `isObject`, they are objects of the API. `name` is different for different schemas.
 */
export function typeOfSchema(
  schema: StructuralSchema,
  isObject: boolean,
  name = 'self',
): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'])
    return { type: { ...types.dyn, max: maxRequestBytes - 2 }, minBytes: 1 };
  const own = isObject ? withHead(schema) : schema;
  switch (own.type) {
    case 'array':
      return listType(own, name);
    case 'object':
      return extraOf(own) ? mapType(own, name) : objectType(own, name);
    case 'string':
      return textType(own);
    case 'boolean':
      return { type: types.bool, minBytes: 4 };
    case 'number':
      return { type: types.double, minBytes: 1 };
    case 'integer':
      return { type: types.int, minBytes: 1 };
    case undefined:
      return undefined;
  }
}

const text: StructuralSchema = { type: 'string' };

/** Returns the schema with the fields of all objects that expressions may read. */
function withHead(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}

function listType(schema: StructuralSchema, name: string): SizedType | undefined {
  const { items, maxItems } = schema;
  const element = items && typeOfSchema(items, isEmbedded(items), `${name}.@items`);
  if (!element) return undefined;
  const max = maxItems ?? Math.floor((maxRequestBytes - 2) / (element.minBytes + 1));
  const uniqueBy = uniqueByOf(schema);
  return { type: { kind: 'list', element: element.type, max, ...(uniqueBy && { uniqueBy }) }, minBytes: 2 };
}

function uniqueByOf(schema: StructuralSchema): 'value' | readonly string[] | undefined {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return 'value';
    case 'map':
      return schema['x-kubernetes-list-map-keys'] ?? [];
    default:
      return undefined;
  }
}

function mapType(schema: StructuralSchema, name: string): SizedType | undefined {
  const extra = extraOf(schema);
  const value = extra && typeOfSchema(extra, isEmbedded(extra), `${name}.@values`);
  if (!value) return undefined;
  const max = schema.maxProperties ?? Math.floor((maxRequestBytes - 2) / (value.minBytes + 6));
  return { type: { kind: 'map', key: types.string, value: value.type, max }, minBytes: 2 };
}

function objectType(schema: StructuralSchema, name: string): SizedType {
  const fields = new Map<string, types.FieldType>();
  const required = new Set(schema.required);
  let minBytes = 2;
  for (const [property, inner] of Object.entries(schema.properties ?? {})) {
    const sized = typeOfSchema(inner, isEmbedded(inner), `${name}.${property}`);
    if (!sized) continue;
    const escaped = propertyName(property);
    if (escaped !== undefined) fields.set(escaped, { property, type: sized.type });
    if (required.has(property) && (inner.default ?? undefined) === undefined)
      minBytes += property.length + sized.minBytes + 4;
  }
  return { type: { kind: 'object', name, fields }, minBytes };
}

function textType(schema: StructuralSchema): SizedType {
  const { format, maxLength } = schema;
  switch (format) {
    case 'byte':
      return { type: { ...types.bytes, max: maxLength ?? maxRequestBytes - 2 }, minBytes: 2 };
    case 'duration':
      return { type: { ...types.duration, max: 32 }, minBytes: 3 };
    case 'date':
      return { type: { ...types.timestamp, max: 12 }, minBytes: 12 };
    case 'date-time':
      return { type: { ...types.timestamp, max: 32 }, minBytes: 21 };
    default:
      return { type: { ...types.string, max: maxBytesOf(schema) }, minBytes: 2 };
  }
}

/** A character has four bytes at most. */
function maxBytesOf({ maxLength, enum: choices = [] }: StructuralSchema): number {
  if (maxLength !== undefined) return maxLength * 4;
  if (choices.length === 0) return maxRequestBytes - 2;
  return choices.reduce<number>(
    (longest, choice) => (typeof choice === 'string' ? Math.max(longest, choice.length) : longest),
    0,
  );
}
