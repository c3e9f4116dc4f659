/** How the fields of a kind merge, according to the server's OpenAPI document (version 3). */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { recordAt, recordsAt, textAt, valueAt } from '../objects.ts';

/** The rules for one value, and for what is in it. */
export interface MergeSchema {
  /** Lists: merged item by item instead of being replaced. */
  readonly merges: boolean;
  /** The field that tells the items of a merging list apart; undefined for a list of plain values. */
  readonly mergeKey?: string;
  /** Objects: a patch names all the fields that may stay. */
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

/** Where the document of a kind's group and version is. */
export const openApiPath = ({ group, version }: Pick<ResourceRef, 'group' | 'version'>) =>
  `/openapi/v3/${group ? `apis/${group}/${version}` : `api/${version}`}`;

/** The rules of a kind; undefined when the server has no strategic merge patch for it. */
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

/** How the document describes a kind; undefined when it does not. */
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
  /** With references followed. */
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

/** What a reference, alone or within allOf, refers to. */
export function resolveReference(schemas: JsonObject, schema: JsonObject): JsonObject {
  const reference =
    textAt(schema, '$ref') || recordsAt(schema, 'allOf').map((part) => textAt(part, '$ref'))[0];
  if (!reference) return schema;
  return recordAt(schemas, reference.slice(reference.lastIndexOf('/') + 1));
}
