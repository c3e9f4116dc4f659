/**
 * Rules of a CustomResourceDefinition's schema, in upstream's words and with its paths
 * (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation).
 */
import { forbiddenCause, invalidCause } from '../field-error.ts';
import { maxCauses, type StatusCause } from '../status-error.ts';
import { inOneGo, type Steps } from '../steps.ts';
import { defaultCauses } from './default-causes.ts';
import { listKeywordCauses } from './list-keyword-causes.ts';
import { rejectedRules, ruleCauses } from './rule-causes.ts';
import { headFields, type StructuralSchema, type WrittenSchema } from './schema.ts';
import { shapeCause } from './schema-shape.ts';
import { structureCauses } from './structure-causes.ts';
import { additionalOf, alternatives, itemsOf, keywordCauses, unreadable } from './written-schema.ts';

export interface DefinitionOptions {
  /**
   * True if the status is a subresource: the root of the schema may then have few keywords besides
   * properties.
   */
  readonly hasStatus?: boolean;
  /**
   * Checks the rules in CEL of a schema without other problems. Default: rejects rules, because a rule that
   * is not evaluated protects nothing.
   */
  readonly checkRules?: (schema: StructuralSchema, path: string) => Steps<StatusCause[]>;
}

/**
 * Returns the problems of a schema, a little over a hundred at most; without any, it is a StructuralSchema.
 * `path` is the field of the schema, such as `spec.versions[0].schema.openAPIV3Schema`.
 */
export function* schemaCauses(
  schema: WrittenSchema,
  path: string,
  { hasStatus = false, checkRules = rejectedRules }: DefinitionOptions = {},
): Steps<StatusCause[]> {
  const misshapen = shapeCause(schema, path);
  yield;
  if (misshapen) return [misshapen];
  const causes = hasStatus ? rootCauses(schema, path) : [];
  if (schema.nullable) causes.push(forbiddenCause(`${path}.nullable`, 'nullable cannot be true at the root'));
  const reason = unreadable(schema);
  yield;
  if (reason === undefined) causes.push(...(yield* structuralCauses(schema, path)));
  yield* walk(schema, path, { isRoot: true, insideMeta: false }, causes);
  if (causes.length > 0) return causes;
  return reason === undefined
    ? yield* checkRules(schema as StructuralSchema, path)
    : [invalidCause(path, '', reason)];
}

function* structuralCauses(schema: WrittenSchema, path: string): Steps<StatusCause[]> {
  const causes = yield* structureCauses(schema, path);
  return causes.length > 0 ? causes : yield* defaultCauses(schema as StructuralSchema, path);
}

/** Returns true if `schemaCauses` would find the schema's structure right; the values of defaults aside. */
export function isStructural(schema: WrittenSchema): schema is StructuralSchema {
  return nonStructuralMessage(schema, '') === undefined;
}

/**
 * Returns the message of the condition NonStructuralSchema; undefined for a structural schema. Upstream joins
 * the errors of all versions.
 */
export function nonStructuralMessage(schema: WrittenSchema, path: string): string | undefined {
  const misshapen = shapeCause(schema, path);
  if (misshapen) return `${misshapen.field}: ${misshapen.message}`;
  const reason = unreadable(schema);
  if (reason !== undefined) return `${path}: Invalid value: "": ${reason}`;
  const lines = inOneGo(structureCauses(schema, path)).map(({ field, message }) => `${field}: ${message}`);
  if (lines.length === 0) return undefined;
  return lines.length === 1 ? lines[0] : `[${[...new Set(lines)].join(', ')}]`;
}

/** Keywords that the root may have beside a status subresource, by upstream's names. */
const rootKeywords: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};

function rootCauses(schema: WrittenSchema, path: string): StatusCause[] {
  if (schema.type && schema.type !== 'object')
    return [
      invalidCause(
        `${path}.type`,
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  const other = Object.entries(schema).some(
    ([keyword, value]) => !Object.hasOwn(rootKeywords, keyword) && value !== undefined && value !== false,
  );
  if (!other) return [];
  const allowed = Object.values(rootKeywords).join(' ');
  return [
    invalidCause(
      path,
      schema,
      `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ];
}

/** Position of a schema in the schema of an object. */
interface Position {
  readonly isRoot: boolean;
  /** True inside of apiVersion, kind and metadata, of the object or of an embedded one. */
  readonly insideMeta: boolean;
  /** Reason why no default may stand here. */
  readonly noDefaults?: string;
}

function* walk(schema: WrittenSchema, path: string, position: Position, causes: StatusCause[]): Steps<void> {
  if (causes.length > maxCauses) return;
  if (position.noDefaults !== undefined && (schema.default ?? undefined) !== undefined)
    causes.push(forbiddenCause(`${path}.default`, `must not be set ${position.noDefaults}`));
  causes.push(...keywordCauses(schema, path), ...mapCauses(schema, path));
  if (position.insideMeta && schema['x-kubernetes-embedded-resource'])
    causes.push(
      forbiddenCause(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'),
    );
  yield;
  yield* walkInner(schema, path, position, causes);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    causes.push(
      invalidCause(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'),
    );
  causes.push(...listKeywordCauses(schema, path), ...ruleCauses(schema, path));
}

/** Properties are for structs, additional properties for maps: an object cannot be both. */
function mapCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const { properties, additionalProperties } = schema;
  const isBoth =
    additionalProperties !== undefined &&
    additionalProperties !== true &&
    Object.keys(properties ?? {}).length > 0;
  return isBoth
    ? [
        forbiddenCause(
          `${path}.additionalProperties`,
          'additionalProperties and properties are mutual exclusive',
        ),
      ]
    : [];
}

function* walkInner(
  schema: WrittenSchema,
  path: string,
  position: Position,
  causes: StatusCause[],
): Steps<void> {
  const inner = { ...position, isRoot: false };
  const additional = additionalOf(schema);
  if (additional) yield* walk(additional, `${path}.additionalProperties`, inMap(inner), causes);
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    yield* walk(property, `${path}.properties[${key}]`, inProperty(key, schema, position), causes);
  if (schema.not) yield* walk(schema.not, `${path}.not`, inner, causes);
  for (const keyword of alternatives)
    for (const [index, one] of (schema[keyword] ?? []).entries())
      yield* walk(one, `${path}.${keyword}[${index}]`, inner, causes);
  const items = itemsOf(schema);
  if (items) yield* walk(items, `${path}.items`, inner, causes);
}

const inMap = (position: Position): Position =>
  position.insideMeta
    ? { ...position, noDefaults: 'inside additionalProperties applying to object metadata' }
    : position;

function inProperty(key: string, schema: WrittenSchema, position: Position): Position {
  const inner = { ...position, isRoot: false };
  const isHead =
    headFields.has(key) && (position.isRoot || schema['x-kubernetes-embedded-resource'] === true);
  if (!isHead) return inner;
  return { ...inner, insideMeta: true, ...(position.isRoot && { noDefaults: `in top-level ${key}` }) };
}
