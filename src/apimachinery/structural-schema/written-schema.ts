/** Schemas inside of a written schema, and the rules of keywords that do not depend on other keywords. */
import { isRecord } from '../equality.ts';
import { forbiddenCause, notSupportedCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';
import type { WrittenSchema } from './schema.ts';

/** Returns the schema of list items; undefined if there is none, or if a list of schemas stands there. */
export const itemsOf = ({ items }: WrittenSchema): WrittenSchema | undefined =>
  isRecord(items) ? (items as WrittenSchema) : undefined;

/** Returns the schema of keys without a schema of their own. */
export const additionalOf = ({ additionalProperties }: WrittenSchema): WrittenSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;

/** The lists of alternatives, in the order in which they are validated. */
export const alternatives = ['allOf', 'anyOf', 'oneOf'] as const;

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const isFilled = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** Keywords that are rejected, in the order of upstream's messages, and when they count as used. */
const unsupported: readonly (readonly [
  keyword: keyof WrittenSchema & string,
  isUsed: (value: unknown) => boolean,
])[] = [
  ['id', (value) => value !== undefined && value !== ''],
  ['additionalItems', (value) => value !== undefined],
  ['patternProperties', isFilled],
  ['definitions', isFilled],
  ['dependencies', (value) => value !== undefined],
  ['$ref', (value) => value !== undefined],
];

/** Returns the causes for keywords that no schema may have. */
export function keywordCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const causes = unsupported
    .filter(([keyword, isUsed]) => isUsed(schema[keyword]))
    .map(([keyword]) => forbiddenCause(`${path}.${keyword}`, `${keyword} is not supported`));
  const { type, items } = schema;
  if (type && !types.includes(type)) causes.unshift(notSupportedCause(`${path}.type`, type, types));
  if (type === 'null')
    causes.push(forbiddenCause(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (Array.isArray(items) && items.length > 0)
    causes.push(forbiddenCause(`${path}.items`, 'items must be a schema object and not an array'));
  if (schema.uniqueItems)
    causes.push(
      forbiddenCause(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  return causes;
}

/**
 * Returns the reason why a schema cannot be read at all: the first keyword without a structural meaning.
 * Undefined if there is none.
 */
export function unreadable(schema: WrittenSchema): string | undefined {
  const [keyword] = unreadableKeywords.find(([keyword, isUsed]) => isUsed(schema[keyword])) ?? [];
  if (keyword) return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const inner of innerSchemas(schema)) {
    const reason = unreadable(inner);
    if (reason) return reason;
  }
  return undefined;
}

const isText = (value: unknown) => value !== undefined && value !== '';
const unreadableKeywords: typeof unsupported = [
  ['id', isText],
  ['$schema', isText],
  ['$ref', isText],
  ['patternProperties', isFilled],
  ['dependencies', isFilled],
  ['additionalItems', (value) => value !== undefined],
  ['definitions', isFilled],
];

function* innerSchemas(schema: WrittenSchema): Generator<WrittenSchema> {
  for (const keyword of alternatives) yield* schema[keyword] ?? [];
  for (const inner of [schema.not, itemsOf(schema), additionalOf(schema)]) if (inner) yield inner;
  yield* Object.values(schema.properties ?? {});
}
