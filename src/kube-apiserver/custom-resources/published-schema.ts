/**
 * Schemas of custom kinds as the OpenAPI documents show them (upstream:
 * apiextensions-apiserver/pkg/controller/openapi). Version 2 has no alternatives and no null, and kubectl
 * rejects a field that the schema of its object does not list. Pure.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ObjectType, PublishedSchema } from '../../apimachinery/field-types.ts';
import {
  extraOf,
  isEmbedded,
  preservesUnknown,
  type StructuralSchema,
} from '../../apimachinery/structural-schema/schema.ts';

const described = {
  apiVersion: 'Group and version of the kind.',
  kind: 'Name of the kind.',
  // kubectl's users search for this text.
  metadata: "Standard object's metadata.",
};

/** Returns how the documents publish the schema of a kind. */
export function publishedSchema(
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  schema: StructuralSchema,
  meta: ObjectType,
): PublishedSchema {
  return {
    name: [...group.split('.').reverse(), version, kind].join('.'),
    meta,
    bytes: 20_000,
    schema: (openApi, metaReference, texts) => rootSchema(schema, { openApi, metaReference, texts }),
  };
}

/** In version 2, kubectl would reject all but the known fields of a kind that preserves unknown ones. */
function rootSchema(schema: StructuralSchema, target: Target): JsonObject {
  if (target.openApi === 2 && preservesUnknown(schema)) return { type: 'object' };
  return withHead(convert(schema, target), schema, target);
}

interface Target {
  readonly openApi: 2 | 3;
  readonly metaReference: JsonObject;
  /** Descriptions of apiVersion and kind, where they are known. */
  readonly texts: Readonly<Record<string, string>> | undefined;
}

/** Adds the fields that every object has. */
function withHead(shown: JsonObject, { properties }: StructuralSchema, target: Target): JsonObject {
  const reference = target.metaReference;
  const metadata =
    target.openApi === 2
      ? { ...reference, description: described.metadata }
      : { description: described.metadata, allOf: [reference], default: {} };
  return {
    ...shown,
    properties: {
      ...((shown.properties ?? properties) as JsonObject),
      apiVersion: { type: 'string', description: target.texts?.apiVersion ?? described.apiVersion },
      kind: { type: 'string', description: target.texts?.kind ?? described.kind },
      metadata,
    },
  };
}

/** Keywords of a schema that contain schemas, or that are shown under conditions. */
const structural = new Set(['properties', 'items', 'additionalProperties', 'type', 'required']);
const alternatives = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'nullable']);

function convert(schema: StructuralSchema, target: Target): JsonObject {
  const isVersion2 = target.openApi === 2;
  const entries = Object.entries(schema).filter(
    ([key, value]) => value !== undefined && !structural.has(key) && !(isVersion2 && alternatives.has(key)),
  );
  const shown: JsonObject = { ...typeOf(schema, isVersion2), ...Object.fromEntries(entries) };
  // kubectl cannot read the fields of a value that may be null, or that has unknown fields.
  if (isVersion2 && (schema.nullable || preservesUnknown(schema))) return shown;
  return withEmbedded({ ...shown, ...innerOf(schema, target) }, schema, target);
}

function typeOf(schema: StructuralSchema, isVersion2: boolean): JsonObject {
  const { type, items } = schema;
  if (type === undefined) return {};
  if (!isVersion2) return { type };
  const isOpen = preservesUnknown(schema) && (type === 'object' || type === 'array');
  return schema.nullable || isOpen || (type === 'array' && !items) ? {} : { type };
}

function innerOf(schema: StructuralSchema, target: Target): JsonObject {
  const { properties, items, additionalProperties } = schema;
  const extra = extraOf(schema);
  const required = requiredOf(schema, target);
  return {
    ...(required.length > 0 && { required }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, convert(inner, target)]),
      ),
    }),
    ...(items && { items: convert(items, target) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: extra ? convert(extra, target) : additionalProperties,
    }),
  };
}

/** In version 2, a field that may be null is not required. */
function requiredOf(schema: StructuralSchema, { openApi }: Target): readonly string[] {
  const { required = [], properties = {} } = schema;
  if (openApi === 3) return required;
  return required.filter((name) => !(Object.hasOwn(properties, name) && properties[name]?.nullable));
}

function withEmbedded(shown: JsonObject, schema: StructuralSchema, target: Target): JsonObject {
  if (!isEmbedded(schema)) return shown;
  const required = new Set([...((shown.required as string[] | undefined) ?? []), 'kind', 'apiVersion']);
  return { ...withHead(shown, schema, target), required: [...required] };
}
