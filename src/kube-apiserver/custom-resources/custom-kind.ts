/** A kind that is added while the server runs, from names and a schema that are data. Pure. */

import { ruleCausesAfter } from '../../api/apiextensions/rules/rule-causes.ts';
import { ageColumn, nameColumn } from '../../api/columns.ts';
import { decodeFields, type Findings, noFindings } from '../../apimachinery/decode-fields.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import {
  type Field,
  type FieldTable,
  type FieldType,
  lazyObjectType,
  type ObjectType,
  type PublishedSchema,
  requiredType,
} from '../../apimachinery/field-types.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { TypeMismatch } from '../../apimachinery/scalars.ts';
import type { StatusCause } from '../../apimachinery/status-error.ts';
import type { Steps } from '../../apimachinery/steps.ts';
import { withDefaults, withoutNulls } from '../../apimachinery/structural-schema/defaulting.ts';
import { conformEmbedded } from '../../apimachinery/structural-schema/embedded-resources.ts';
import { objectTypeFromStructural } from '../../apimachinery/structural-schema/object-type.ts';
import { pruned } from '../../apimachinery/structural-schema/pruning.ts';
import type { StructuralSchema } from '../../apimachinery/structural-schema/schema.ts';
import { valueCauses } from '../../apimachinery/structural-schema/value-causes.ts';
import { publishedSchema } from './published-schema.ts';

export interface CustomKind
  extends Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'plural' | 'namespaced'>,
    Partial<
      Pick<
        ResourceDefinition,
        'singular' | 'listKind' | 'shortNames' | 'categories' | 'columns' | 'selectableFields'
      >
    >,
    Pick<ResourceDefinition, 'scale' | 'deprecation'> {
  readonly schema: StructuralSchema;
  /** True if the status is a subresource. */
  readonly hasStatus?: boolean;
}

/**
 * Returns the definition. `fields` contains the type of metadata.
 */
export function customKind(custom: CustomKind, fields: FieldTable): ResourceDefinition {
  const { schema, ...own } = custom;
  const { group, version, kind } = custom;
  const typeName = `${group}.${version}.${kind}`;
  const meta = requiredType(fields, 'meta.v1.ObjectMeta');
  const head = headType(kind, meta);
  return {
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    columns: [nameColumn, ageColumn],
    selectableFields: {},
    hasStatus: false,
    ...own,
    typeName,
    objectType: withPublished(
      objectTypeFromStructural(typeName, schema, meta),
      publishedSchema(custom, schema, meta),
    ),
    readFields: (value, findings) => readFields(value, schema, { head, meta }, findings),
    strategy: { countsGenerations: true, updatesNameVersion: true },
    versionRules: { validate: (object, old) => objectCauses(object, schema, old) },
    deleteAnswers: 'status',
  };
}

/** Returns the type with its publication. The fields are still computed on first use. */
const withPublished = (type: ObjectType, published: PublishedSchema): ObjectType =>
  Object.defineProperty(type, 'published', { value: published });

/** Returns the type of the fields that every object has. */
function headType(name: string, meta: ObjectType): ObjectType {
  const text: FieldType = { kind: 'scalar', scalar: 'string' };
  const fields: readonly Field[] = [
    { name: 'apiVersion', type: text, required: false },
    { name: 'kind', type: text, required: false },
    { name: 'metadata', type: { kind: 'object', object: meta }, required: false },
  ];
  return lazyObjectType(name, false, () => new Map(fields.map((field) => [field.name, field])));
}

/** Maximum number of unknown fields that are reported, as for all kinds. */
const maxReported = 100;

/** Returns the fields of the schema, with their defaults, and a checked apiVersion, kind and metadata. */
function readFields(
  { apiVersion, kind, metadata, ...content }: JsonObject,
  schema: StructuralSchema,
  { head, meta }: { readonly head: ObjectType; readonly meta: ObjectType },
  { unknown }: Pick<Findings, 'unknown'>,
): JsonObject {
  const findings = noFindings();
  const checked = decodeFields({ apiVersion, kind, metadata }, head, findings);
  const { value, removed } = pruned(content, schema, true);
  const conformed = conformEmbedded(value, schema, meta);
  if (conformed.cause) throw new TypeMismatch(`${conformed.cause.field}: ${conformed.cause.message}`);
  unknown.push(...[...findings.unknown, ...removed, ...conformed.unknown].slice(0, maxReported));
  return { ...checked, ...completed(conformed.value as JsonObject, schema) };
}

/** Returns the problems of an object: those of its schema, then those of its rules. */
function* objectCauses(
  object: KubeObject,
  schema: StructuralSchema,
  old: KubeObject | undefined,
): Steps<StatusCause[]> {
  const causes = yield* valueCauses(object, schema, { old });
  yield;
  const [fields, oldFields] = [object, old] as unknown as [JsonObject, JsonObject | undefined];
  return [...causes, ...(yield* ruleCausesAfter(causes, fields, schema, oldFields))];
}

const completed = (value: JsonObject, schema: StructuralSchema): JsonObject =>
  withDefaults(withoutNulls(value, schema) as JsonObject, schema) as JsonObject;

/** Returns an object with only the fields of the schema. Shares parts with the object. */
export function prunedBy(object: KubeObject, schema: StructuralSchema): KubeObject {
  const { apiVersion, kind, metadata, ...content } = object as KubeObject & JsonObject;
  return { apiVersion, kind, metadata, ...(pruned(content, schema, true).value as JsonObject) };
}

/**
 * Returns a stored object with the fields of the schema and their defaults: it may have been stored under an
 * earlier one. Shares parts with the object.
 */
export function underSchema(object: KubeObject, schema: StructuralSchema): KubeObject {
  const { apiVersion, kind, metadata, ...content } = prunedBy(object, schema) as KubeObject & JsonObject;
  return { apiVersion, kind, metadata, ...completed(content, schema) };
}
