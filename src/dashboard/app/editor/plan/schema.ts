/** Fields of an object at a place, by a schema of OpenAPI 3. Pure. */
import { isRecord, type JsonObject } from '../../../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../../../../apimachinery/fields.ts';

export interface Suggestion {
  readonly label: string;
  /** Type of a field, such as `object[]`. */
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

type Schemas = JsonObject;

/** Returns the schema of a kind in a document of `/openapi/v3/…`. */
export function schemaOf(document: unknown, { group, version, kind }: KindName): JsonObject | undefined {
  const schemas = recordAt(document, 'components', 'schemas');
  return Object.values(schemas)
    .filter(isRecord)
    .find((schema) =>
      recordsAt(schema, 'x-kubernetes-group-version-kind').some(
        (name) =>
          textAt(name, 'group') === group &&
          textAt(name, 'version') === version &&
          textAt(name, 'kind') === kind,
      ),
    );
}

/** Follows a reference, also one that is the only entry of `allOf`; the description of the place is kept. */
function resolved(schema: JsonObject, schemas: Schemas): JsonObject {
  const [only, ...more] = recordsAt(schema, 'allOf');
  const inner = only && more.length === 0 ? only : schema;
  const reference = textAt(inner, '$ref');
  if (reference === '') return inner === schema ? schema : { ...schema, ...inner };
  const target = recordAt(schemas, reference.slice(reference.lastIndexOf('/') + 1));
  return { ...target, ...(schema.description !== undefined && { description: schema.description }) };
}

/** Returns the schema at a path; `-` stands for an item of a list. */
export function schemaAt(document: unknown, kind: KindName, path: readonly string[]): JsonObject | undefined {
  const schemas = recordAt(document, 'components', 'schemas');
  let at = schemaOf(document, kind);
  for (const step of path) {
    if (!at) return undefined;
    at = below(resolved(at, schemas), step);
  }
  return at && resolved(at, schemas);
}

function below(schema: JsonObject, step: string): JsonObject | undefined {
  if (step === '-') return isRecord(schema.items) ? schema.items : undefined;
  const properties = recordAt(schema, 'properties');
  const property = Object.hasOwn(properties, step) ? properties[step] : schema.additionalProperties;
  return isRecord(property) ? property : undefined;
}

/** Returns the fields of the object at a path, the required ones first. */
export function fieldsAt(document: unknown, kind: KindName, path: readonly string[]): Suggestion[] {
  const schemas = recordAt(document, 'components', 'schemas');
  const schema = schemaAt(document, kind, path);
  if (!schema) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(recordAt(schema, 'properties'))
    .filter((entry): entry is [string, JsonObject] => isRecord(entry[1]))
    .map(([label, property]) => ({
      label,
      type: typeOf(resolved(property, schemas), schemas),
      description: textAt(property, 'description'),
      isRequired: required.has(label),
    }))
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired) || a.label.localeCompare(b.label));
}

function typeOf(schema: JsonObject, schemas: Schemas): string {
  if (isRecord(schema.items)) return `${typeOf(resolved(schema.items, schemas), schemas)}[]`;
  return (
    textAt(schema, 'type') || (schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : 'object')
  );
}

/** Returns the values that a field may have: its choices, or those of a boolean. */
export function valuesAt(document: unknown, kind: KindName, path: readonly string[]): string[] {
  const schema = schemaAt(document, kind, path);
  if (!schema) return [];
  if (Array.isArray(schema.enum)) return schema.enum.map(String);
  return textAt(schema, 'type') === 'boolean' ? ['true', 'false'] : [];
}
