/**
 * The type of a kind whose schema is data (apiextensions.k8s.io JSONSchemaProps), as server-side apply needs
 * it. Values are checked by the schema itself. Pure.
 */
import { any, type Field, type FieldType, lazyObjectType, type ObjectType } from '../field-types.ts';
import { extraOf, headFields, type StructuralSchema } from './schema.ts';

/** Returns the object type of a schema. `meta` is the type of metadata. */
export function objectTypeFromStructural(
  name: string,
  schema: StructuralSchema,
  meta: ObjectType,
): ObjectType {
  const text: FieldType = { kind: 'scalar', scalar: 'string' };
  return lazyObjectType(name, false, () => {
    const head: [string, Field][] = [
      ['apiVersion', { name: 'apiVersion', type: text, required: false }],
      ['kind', { name: 'kind', type: text, required: false }],
      ['metadata', { name: 'metadata', type: { kind: 'object', object: meta }, required: false }],
    ];
    const fields = schema['x-kubernetes-preserve-unknown-fields'] ? new OpenFields(head) : new Map(head);
    for (const [key, field] of fieldsOf(name, schema)) if (!headFields.has(key)) fields.set(key, field);
    return fields;
  });
}

/** Fields of an object that preserves unknown ones: each has any value. */
class OpenFields extends Map<string, Field> {
  override get(key: string): Field {
    return super.get(key) ?? { name: key, type: any, required: false };
  }
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
      ...(inner.description && { description: inner.description }),
      // An applied item that lacks a key has its default.
      ...(inner.default !== undefined && {
        rule: { acts: true, mandatory: false, default: inner.default },
      }),
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
  const extra = extraOf(schema);
  if (extra) return { kind: 'map', values: typeOf(name, extra) };
  if (schema.additionalProperties === true) return { kind: 'map', values: any };
  const atomic = schema['x-kubernetes-map-type'] === 'atomic';
  return { kind: 'object', object: lazyObjectType(name, atomic, () => fieldsOf(name, schema)) };
}
