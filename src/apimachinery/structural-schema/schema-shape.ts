/**
 * JSON types of the keywords of a schema. A schema inside of `items`, `additionalProperties` and others is
 * any JSON for the decoder of definitions, so that a text may stand where a list belongs.
 */
import { isRecord } from '../equality.ts';
import { invalidCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';

/** Maximum depth of a schema: code that walks a deeper one could exhaust the stack. */
const maxSchemaDepth = 200;

type Shape = 'text' | 'number' | 'integer' | 'flag' | 'texts' | 'list' | 'object' | 'any' | Nested;
type Nested = 'schema' | 'schemas' | 'schemaMap' | 'schemaOrFlag' | 'schemaOrSchemas';

const shapes: Readonly<Record<string, Shape>> = {
  ...{ id: 'text', $schema: 'text', $ref: 'text', description: 'text', type: 'text', format: 'text' },
  ...{ title: 'text', pattern: 'text', 'x-kubernetes-list-type': 'text', 'x-kubernetes-map-type': 'text' },
  ...{ maximum: 'number', minimum: 'number', multipleOf: 'number' },
  ...{ maxLength: 'integer', minLength: 'integer', maxItems: 'integer', minItems: 'integer' },
  ...{ maxProperties: 'integer', minProperties: 'integer' },
  ...{ exclusiveMaximum: 'flag', exclusiveMinimum: 'flag', uniqueItems: 'flag', nullable: 'flag' },
  'x-kubernetes-preserve-unknown-fields': 'flag',
  'x-kubernetes-embedded-resource': 'flag',
  'x-kubernetes-int-or-string': 'flag',
  ...{ required: 'texts', 'x-kubernetes-list-map-keys': 'texts' },
  ...{ enum: 'list', 'x-kubernetes-validations': 'list' },
  ...{ externalDocs: 'object', dependencies: 'object' },
  ...{ default: 'any', example: 'any', additionalItems: 'any' },
  ...{ not: 'schema', allOf: 'schemas', anyOf: 'schemas', oneOf: 'schemas' },
  ...{ properties: 'schemaMap', patternProperties: 'schemaMap', definitions: 'schemaMap' },
  ...{ additionalProperties: 'schemaOrFlag', items: 'schemaOrSchemas' },
};

/** Returns the cause for the first keyword of a wrong type; undefined if all are right. */
export function shapeCause(schema: unknown, path: string, depth = 0): StatusCause | undefined {
  if (!isRecord(schema)) return invalidCause(path, schema, 'must be a schema');
  if (depth > maxSchemaDepth)
    return invalidCause(path, '', `must not be nested deeper than ${maxSchemaDepth} levels`);
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined;
    const wrong = shape && value !== undefined && keywordCause(value, shape, `${path}.${keyword}`, depth + 1);
    if (wrong) return wrong;
  }
  return rulesCause(schema['x-kubernetes-validations'], `${path}.x-kubernetes-validations`);
}

function keywordCause(value: unknown, shape: Shape, path: string, depth: number): StatusCause | undefined {
  switch (shape) {
    case 'schemas':
      return listCause(value, path, depth);
    case 'schemaMap':
      return mapCause(value, path, depth);
    case 'schema':
    case 'schemaOrFlag':
    case 'schemaOrSchemas':
      return schemaCause(value, shape, path, depth);
    default:
      return accepts[shape](value) ? undefined : invalidCause(path, value, wanted[shape]);
  }
}

function schemaCause(value: unknown, shape: Nested, path: string, depth: number): StatusCause | undefined {
  if (shape === 'schemaOrFlag' && typeof value === 'boolean') return undefined;
  if (shape === 'schemaOrSchemas' && Array.isArray(value)) return listCause(value, path, depth);
  return shapeCause(value, path, depth);
}

function listCause(list: unknown, path: string, depth: number): StatusCause | undefined {
  if (!Array.isArray(list)) return invalidCause(path, list, 'must be a list');
  return firstOf(list.entries(), ([index, inner]) => shapeCause(inner, `${path}[${index}]`, depth));
}

function mapCause(map: unknown, path: string, depth: number): StatusCause | undefined {
  if (!isRecord(map)) return invalidCause(path, map, 'must be an object');
  return firstOf(Object.entries(map), ([key, inner]) => shapeCause(inner, `${path}[${key}]`, depth));
}

function firstOf<T>(all: Iterable<T>, find: (one: T) => StatusCause | undefined): StatusCause | undefined {
  for (const one of all) {
    const found = find(one);
    if (found) return found;
  }
  return undefined;
}

type Plain = Exclude<Shape, Nested>;

const accepts: Readonly<Record<Plain, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  flag: (value) => typeof value === 'boolean',
  texts: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
  list: Array.isArray,
  object: isRecord,
  any: () => true,
};

const wanted: Readonly<Record<Plain, string>> = {
  text: 'must be a string',
  number: 'must be a number',
  integer: 'must be an integer',
  flag: 'must be a boolean',
  texts: 'must be a list of strings',
  list: 'must be a list',
  object: 'must be an object',
  any: '',
};

const ruleShapes: Readonly<Record<string, Plain>> = {
  ...{ rule: 'text', message: 'text', messageExpression: 'text', reason: 'text', fieldPath: 'text' },
  optionalOldSelf: 'flag',
};

function rulesCause(rules: unknown, path: string): StatusCause | undefined {
  if (!Array.isArray(rules)) return undefined;
  return firstOf(rules.entries(), ([index, rule]) => ruleCause(rule, `${path}[${index}]`));
}

function ruleCause(rule: unknown, path: string): StatusCause | undefined {
  if (!isRecord(rule)) return invalidCause(path, rule, 'must be a rule');
  if (typeof rule.rule !== 'string') return invalidCause(`${path}.rule`, rule.rule, 'must be a string');
  return firstOf(Object.entries(ruleShapes), ([key, shape]) =>
    rule[key] === undefined || accepts[shape](rule[key])
      ? undefined
      : invalidCause(`${path}.${key}`, rule[key], wanted[shape]),
  );
}
