/** Merge rules for the fields of a kind, from the server's OpenAPI document (version 3). */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

/** The rules for one value and its fields or items. */
export interface MergeSchema {
  /** True for a list whose items are merged instead of the list being replaced. */
  readonly merges: boolean;
  /** The field that identifies the items of a merging list; undefined for a list of plain values. */
  readonly mergeKey?: string;
  /** True for an object of which a patch must name all fields that are kept. */
  readonly retainsKeys: boolean;
  field(name: string): MergeSchema;
  items(): MergeSchema;
}

/** The rule for values that the server does not describe: objects merge, lists are replaced. */
export const plainSchema: MergeSchema = {
  merges: false,
  retainsKeys: false,
  field: () => plainSchema,
  items: () => plainSchema,
};

/** Returns the path of the document for a kind's group and version. */
export const openApiPath = ({ group, version }: Pick<ResourceRef, 'group' | 'version'>) =>
  `/openapi/v3/${group ? `apis/${group}/${version}` : `api/${version}`}`;

/** Returns the rules of a kind; undefined if the server does not support strategic merge patches for it. */
export function mergeSchemaOf(
  document: JsonObject,
  ref: Pick<ResourceRef, 'group' | 'version' | 'kind'>,
): MergeSchema | undefined {
  const patches = Object.values(recordAt(document, 'paths')).map((path) => recordAt(path, 'patch'));
  const strategic = patches.some(
    (operation) =>
      isKind(operation['x-kubernetes-group-version-kind'], ref) &&
      valueAt(operation, 'requestBody', 'content', patchTypes.strategic) !== undefined,
  );
  const schemas = recordAt(document, 'components', 'schemas');
  const found = schemaOfKind(document, ref);
  return strategic && found ? new OpenApiSchema(schemas, found) : undefined;
}

/** Returns the schema of a kind; undefined if the document has none. */
export function schemaOfKind(
  document: JsonObject,
  ref: Pick<ResourceRef, 'group' | 'version' | 'kind'>,
): JsonObject | undefined {
  return Object.values(recordAt(document, 'components', 'schemas'))
    .filter(isRecord)
    .find((schema) => recordsAt(schema, 'x-kubernetes-group-version-kind').some((gvk) => isKind(gvk, ref)));
}

function isKind(gvk: unknown, { group, version, kind }: Pick<ResourceRef, 'group' | 'version' | 'kind'>) {
  return textAt(gvk, 'group') === group && textAt(gvk, 'version') === version && textAt(gvk, 'kind') === kind;
}

class OpenApiSchema implements MergeSchema {
  readonly merges: boolean;
  readonly retainsKeys: boolean;
  readonly mergeKey?: string;
  readonly #schemas: JsonObject;
  /** The schema with resolved references. */
  readonly #schema: JsonObject;

  constructor(schemas: JsonObject, schema: JsonObject) {
    const strategies = textAt(schema, 'x-kubernetes-patch-strategy').split(',');
    const mergeKey = textAt(schema, 'x-kubernetes-patch-merge-key');
    this.merges = strategies.includes('merge');
    this.retainsKeys = strategies.includes('retainKeys');
    if (mergeKey) this.mergeKey = mergeKey;
    this.#schemas = schemas;
    this.#schema = resolveReference(schemas, schema);
  }

  field(name: string): MergeSchema {
    const properties = recordAt(this.#schema, 'properties');
    const found = Object.hasOwn(properties, name) ? properties[name] : this.#schema.additionalProperties;
    return isRecord(found) ? new OpenApiSchema(this.#schemas, found) : plainSchema;
  }

  items(): MergeSchema {
    const found = this.#schema.items;
    return isRecord(found) ? new OpenApiSchema(this.#schemas, found) : plainSchema;
  }
}

/** Resolves a reference, alone or within allOf; returns other schemas unchanged. */
export function resolveReference(schemas: JsonObject, schema: JsonObject): JsonObject {
  const reference =
    textAt(schema, '$ref') || recordsAt(schema, 'allOf').map((part) => textAt(part, '$ref'))[0];
  if (!reference) return schema;
  return recordAt(schemas, reference.slice(reference.lastIndexOf('/') + 1));
}
