/**
 * Types from structural schemas (apiserver pkg/cel/common/schemas.go): with the maximum sizes that the schema
 * gives, or that fit into a request, and with escaped names of fields.
 */
import { propertyName } from '../property-name.ts';
import * as types from '../types/type.ts';
import { dyn, type FieldType, type Type } from '../types/type.ts';

/** The part of JSONSchemaProps from which a type follows. */
export interface SchemaShape {
  readonly type?: string | undefined;
  readonly format?: string | undefined;
  readonly items?: SchemaShape | undefined;
  readonly properties?: Readonly<Record<string, SchemaShape>> | undefined;
  readonly additionalProperties?: SchemaShape | boolean | undefined;
  readonly required?: readonly string[] | undefined;
  readonly default?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly maxLength?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
}

/** Greatest size of a request, in bytes. */
export const maxRequest = 3 * 1024 * 1024;

/** A type, and the least number of bytes that its JSON takes. */
export interface Sized {
  readonly type: Type;
  readonly least: number;
}

/**
 * Returns the type, or undefined for a schema without one, which cannot have rules. `name` is that of the
 * outermost object; `isRoot` adds apiVersion, kind, metadata.name and metadata.generateName, which every
 * resource has.
 */
export function typeOfSchema(schema: SchemaShape, name: string, isRoot: boolean): Type | undefined {
  return sized(schema, name, isRoot)?.type;
}

/** Returns the type together with the least size; undefined for a schema without a type. */
export function sized(schema: SchemaShape, name: string, isRoot: boolean): Sized | undefined {
  if (schema['x-kubernetes-int-or-string']) return { type: { ...dyn, max: maxRequest - 2 }, least: 1 };
  switch (schema.type) {
    case 'array':
      return array(schema, name);
    case 'object':
      return isMap(schema) && !isRoot
        ? map(schema, name)
        : object(isRoot ? asResource(schema) : schema, name);
    case 'string':
      return text(schema);
    case 'boolean':
      return { type: types.bool, least: 4 };
    case 'number':
      return { type: types.double, least: 1 };
    case 'integer':
      return { type: types.int, least: 1 };
    default:
      return undefined;
  }
}

function inner(schema: SchemaShape, name: string): Sized | undefined {
  return sized(schema, name, schema['x-kubernetes-embedded-resource'] === true);
}

function array(schema: SchemaShape, name: string): Sized | undefined {
  const element = schema.items && inner(schema.items, `${name}.@idx`);
  if (!element) return undefined;
  const max = bounded(schema.maxItems) ?? Math.floor((maxRequest - 2) / (element.least + 1));
  const uniqueBy = uniqueness(schema);
  return { type: { ...types.listOf(element.type), max, ...(uniqueBy && { uniqueBy }) }, least: 2 };
}

function uniqueness(schema: SchemaShape): types.ListType['uniqueBy'] {
  if (schema['x-kubernetes-list-type'] === 'set') return 'value';
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  return (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => propertyName(key) ?? key);
}

function bounded(max: number | undefined): number | undefined {
  return max === undefined ? undefined : Math.max(max, 0);
}

function isMap({ additionalProperties }: SchemaShape): boolean {
  return typeof additionalProperties === 'object';
}

/** Keys have no declared length, and estimates count their length as 0, as upstream. */
const key: Type = { ...types.string, max: 0 };

function map({ additionalProperties, maxProperties }: SchemaShape, name: string): Sized | undefined {
  if (typeof additionalProperties !== 'object') return undefined;
  const value = inner(additionalProperties, `${name}.@elem`);
  if (!value) return undefined;
  const max = bounded(maxProperties) ?? Math.floor((maxRequest - 2) / (value.least + 6));
  return { type: { ...types.mapOf(key, value.type), max }, least: 2 };
}

function object(schema: SchemaShape, name: string): Sized {
  const fields = new Map<string, FieldType>();
  const required = new Set(schema.required);
  let least = 2;
  for (const [property, field] of Object.entries(schema.properties ?? {})) {
    const own = inner(field, `${name}.${property}`);
    const escaped = propertyName(property);
    if (!own) continue;
    if (escaped !== undefined) fields.set(escaped, { property, type: own.type });
    // A default is filled in by the server, so the request may lack the field.
    if (required.has(property) && field.default === undefined) least += property.length + own.least + 4;
  }
  return { type: { kind: 'object', name, fields }, least };
}

const plainText: SchemaShape = { type: 'string' };

function asResource(schema: SchemaShape): SchemaShape {
  const metadata = { type: 'object', properties: { name: plainText, generateName: plainText } };
  return {
    ...schema,
    properties: { ...schema.properties, apiVersion: plainText, kind: plainText, metadata },
  };
}

const formats: ReadonlyMap<string, Sized> = new Map<string, Sized>([
  ['duration', { type: { ...types.duration, max: 32 }, least: 3 }],
  ['date', { type: { ...types.timestamp, max: 12 }, least: 12 }],
  ['date-time', { type: { ...types.timestamp, max: 32 }, least: 21 }],
]);

function text(schema: SchemaShape): Sized {
  const format = schema.format === undefined ? undefined : formats.get(schema.format);
  if (format) return format;
  const max = bounded(schema.maxLength);
  if (schema.format === 'byte') return { type: { ...types.bytes, max: max ?? maxRequest - 2 }, least: 2 };
  // A character takes up to four bytes.
  return { type: { ...types.string, max: max === undefined ? longest(schema) : max * 4 }, least: 2 };
}

function longest({ enum: values = [] }: SchemaShape): number {
  if (values.length === 0) return maxRequest - 2;
  return values.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, value.length) : most),
    0,
  );
}
