/**
 * Rules that make a schema structural: each value has one schema with a type, and alternatives only restrict
 * values (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/validation.go and complete.go).
 */
import { deepEqual } from '../equality.ts';
import { forbiddenCause, invalidCause, requiredCause } from '../field-error.ts';
import { compilePattern, PatternError } from '../re2.ts';
import type { StatusCause } from '../status-error.ts';
import type { Steps } from '../steps.ts';
import type { WrittenSchema } from './schema.ts';
import { additionalOf, alternatives, itemsOf } from './written-schema.ts';

type Level = 'root' | 'item' | 'field';

/** Returns the causes, sorted by their texts; `path` is the field of the schema. */
export function* structureCauses(schema: WrittenSchema, path: string): Steps<StatusCause[]> {
  const causes: StatusCause[] = [];
  yield* invariants(schema, 'root', path, causes);
  for (const [inner, at] of alternativesOf(schema, path)) {
    complete(inner, schema, path, at, causes);
    yield;
  }
  return causes
    .map((cause) => ({ cause, text: `${cause.field}: ${cause.message}` }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ cause }) => cause);
}

/** Maximum of causes that are collected to be sorted. */
const maxCollected = 1000;

function* invariants(schema: WrittenSchema, level: Level, path: string, causes: StatusCause[]): Steps<void> {
  if (causes.length > maxCollected) return;
  const items = itemsOf(schema);
  if (schema.type === 'array' && !items) causes.push(requiredCause(`${path}.items`, 'must be specified'));
  if (items) yield* invariants(items, 'item', `${path}.items`, causes);
  for (const [key, inner] of Object.entries(schema.properties ?? {}))
    yield* invariants(inner, 'field', `${path}.properties[${key}]`, causes);
  if (schema.additionalProperties !== undefined && level === 'root')
    causes.push(forbiddenCause(`${path}.additionalProperties`, 'must not be used at the root'));
  const additional = additionalOf(schema);
  if (additional) yield* invariants(additional, 'field', `${path}.additionalProperties`, causes);
  extensionCauses(schema, path, causes);
  yield* valueValidations(schema, level, path, causes, {
    skipAnyOf: isIntOrString(schema.anyOf),
    skipFirstAllOf: isIntOrString(schema.allOf?.[0]?.anyOf),
  });
  typeCauses(schema, level, path, causes);
  headCauses(schema, level, path, causes);
}

const isIntOrString = (anyOf: WrittenSchema['anyOf']) =>
  deepEqual(anyOf, [{ type: 'integer' }, { type: 'string' }]);

function extensionCauses(schema: WrittenSchema, path: string, causes: StatusCause[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const keyword of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    if (schema[keyword])
      causes.push(
        invalidCause(`${path}.${keyword}`, true, 'must be false if x-kubernetes-int-or-string is true'),
      );
}

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeCauses(schema: WrittenSchema, level: Level, path: string, causes: StatusCause[]): void {
  const { type } = schema;
  const at = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    causes.push(type ? invalidCause(at, type, why) : requiredCause(at, why));
  } else if (
    !type &&
    !schema['x-kubernetes-int-or-string'] &&
    !schema['x-kubernetes-preserve-unknown-fields']
  )
    causes.push(requiredCause(at, emptyType[level]));
  if (level === 'root' && type && type !== 'object')
    causes.push(invalidCause(at, type, 'must be object at the root'));
}

/** Checks what a schema says of apiVersion, kind and metadata of an object. */
function headCauses(schema: WrittenSchema, level: Level, path: string, causes: StatusCause[]): void {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (isEmbedded) embeddedCauses(schema, path, causes);
  if (level !== 'root' && !isEmbedded) return;
  const { kind, apiVersion, metadata } = ownProperties(schema);
  for (const [name, inner] of Object.entries({ kind, apiVersion }))
    if (inner && inner.type !== 'string')
      causes.push(invalidCause(`${path}.properties[${name}].type`, inner.type ?? '', 'must be string'));
  if (metadata) metadataCauses(metadata, level, `${path}.properties[metadata]`, causes);
}

function embeddedCauses(schema: WrittenSchema, path: string, causes: StatusCause[]): void {
  if (schema.additionalProperties !== undefined)
    causes.push(
      forbiddenCause(
        `${path}.additionalProperties`,
        'must not be used if x-kubernetes-embedded-resource is set',
      ),
    );
  if (!schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(schema.properties ?? {}).length === 0)
    causes.push(
      requiredCause(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
}

/** Returns the properties without those that every JavaScript object inherits. */
const ownProperties = ({ properties }: WrittenSchema): Partial<Record<string, WrittenSchema>> =>
  Object.assign(Object.create(null) as object, properties);

/** Keywords of metadata that another check reports, or that restrict nothing. */
const silentInMetadata = ['type', 'default', 'properties', 'example', 'externalDocs', '$schema'];

function metadataCauses(metadata: WrittenSchema, level: Level, path: string, causes: StatusCause[]): void {
  if (metadata.type !== 'object')
    causes.push(invalidCause(`${path}.type`, metadata.type ?? '', 'must be object'));
  if (level !== 'root') return;
  const others = Object.entries(metadata).filter(
    ([key, value]) => !silentInMetadata.includes(key) && isSet(value),
  );
  const names = Object.keys(metadata.properties ?? {});
  if (others.length > 0 || names.some((name) => name !== 'name' && name !== 'generateName'))
    causes.push(
      forbiddenCause(
        path,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
}

/** Returns false for values that Go leaves out. */
const isSet = (value: unknown) =>
  value !== undefined && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);

interface Skips {
  /** True if the alternatives are those of a number or a text, which may name types. */
  readonly skipAnyOf: boolean;
  readonly skipFirstAllOf?: boolean;
}

function* valueValidations(
  schema: WrittenSchema,
  level: Level,
  path: string,
  causes: StatusCause[],
  { skipAnyOf, skipFirstAllOf = false }: Skips,
): Steps<void> {
  for (const [inner, at, keyword, index] of alternativesOf(schema, path)) {
    if (keyword === 'anyOf' && skipAnyOf) continue;
    yield* nested(inner, level, at, causes, keyword === 'allOf' && index === 0 && skipFirstAllOf);
  }
  if (schema.pattern) patternCause(schema.pattern, `${path}.pattern`, causes);
  yield;
}

function patternCause(pattern: string, path: string, causes: StatusCause[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const why = `must be a valid regular expression, but isn't: ${error.message}`;
    causes.push(invalidCause(path, pattern, why));
  }
}

/** Yields the schemas of alternatives, with their paths. */
function* alternativesOf(
  schema: WrittenSchema,
  path: string,
): Generator<readonly [WrittenSchema, string, string, number]> {
  for (const keyword of alternatives)
    for (const [index, inner] of (schema[keyword] ?? []).entries())
      yield [inner, `${path}.${keyword}[${index}]`, keyword, index];
  if (schema.not) yield [schema.not, `${path}.not`, 'not', 0];
}

/** Keywords that only the schema of a value itself may have, and what upstream says of them elsewhere. */
const structuralOnly: readonly (readonly [keyword: keyof WrittenSchema & string, why: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** Checks a schema of an alternative, which may only restrict values. */
function* nested(
  schema: WrittenSchema,
  level: Level,
  path: string,
  causes: StatusCause[],
  skipAnyOf = false,
): Steps<void> {
  yield* valueValidations(schema, level, path, causes, { skipAnyOf });
  const items = itemsOf(schema);
  if (items) yield* nested(items, level, `${path}.items`, causes);
  for (const [key, inner] of Object.entries(schema.properties ?? {}))
    yield* nested(inner, 'field', `${path}.properties[${key}]`, causes);
  for (const [keyword, why] of structuralOnly)
    if (isSet(schema[keyword]) && schema[keyword] !== null)
      causes.push(forbiddenCause(`${path}.${keyword}`, why));
  if (Object.hasOwn(schema.properties ?? {}, 'metadata'))
    causes.push(forbiddenCause(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
}

/** Checks that what an alternative names is also specified by the schema of the value itself. */
function complete(
  restriction: WrittenSchema,
  schema: WrittenSchema | undefined,
  path: string,
  from: string,
  causes: StatusCause[],
): void {
  if (!schema) {
    causes.push(requiredCause(path, `because it is defined in ${from}`));
    return;
  }
  for (const [inner, at] of alternativesOf(restriction, from)) complete(inner, schema, path, at, causes);
  const items = itemsOf(restriction);
  if (items) complete(items, itemsOf(schema), `${path}.items`, `${from}.items`, causes);
  const own = ownProperties(schema);
  for (const [key, inner] of Object.entries(restriction.properties ?? {})) {
    const at = `properties[${key}]`;
    complete(inner, own[key], `${path}.${at}`, `${from}.${at}`, causes);
  }
}
