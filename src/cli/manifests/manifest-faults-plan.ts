/** Compares an object with the types of its fields in the server's OpenAPI document. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { nearest } from '../../terminal/nearest.ts';
import { resolveReference } from '../apply/merge-schema.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Path } from './manifests.ts';

export interface Fault {
  readonly path: Path;
  /** The fault and the correction, such as `spec.replicas: expected a whole number, got "two"`. */
  readonly message: string;
}

/** Maximum number of faults of one object in the list. */
const maxFaults = 100;

/**
 * Returns the values of a wrong type and the unknown fields, in the order of the object. `schemas` are the
 * schemas to which references may refer.
 */
export function manifestFaults(schemas: JsonObject, schema: JsonObject, object: JsonObject): Fault[] {
  const checker = new Checker(schemas);
  checker.check(object, schema, []);
  return checker.faults;
}

/** Returns a path's text, such as `spec.containers[0].command`. */
const pathText = (path: Path) =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

/** Returns the keys and indexes of a path such as `spec.containers[0].command`. */
export const pathOf = (text: string): Path =>
  [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) =>
    index === undefined ? word : Number(index),
  );

/** The server's message about one field. */
export interface FieldCause {
  /** Text of the path, such as `spec.containers[0].image`. */
  readonly field: string;
  readonly message: string;
}

/**
 * Returns the field and its fault from a message such as `Secret in version "v1" cannot be handled as a
 * Secret: data.a: why`; undefined for other messages.
 */
export function oneFieldOf(message: string): FieldCause | undefined {
  const [, field, why] = /cannot be handled as an? \w+: ([a-z][\w.[\]-]*): (.*)$/s.exec(message) ?? [];
  return field === undefined || why === undefined ? undefined : { field, message: why };
}

class Checker {
  readonly faults: Fault[] = [];
  readonly #schemas: JsonObject;

  constructor(schemas: JsonObject) {
    this.#schemas = schemas;
  }

  check(value: unknown, given: JsonObject, path: Path): void {
    if (value === null || value === undefined || this.faults.length >= maxFaults) return;
    const schema = resolveReference(this.#schemas, given);
    const types = [schema, ...recordsAt(schema, 'oneOf')].map((one) => textAt(one, 'type')).filter(Boolean);
    if (types.length === 0) return;
    if (!types.some((type) => isOfType(value, type, textAt(schema, 'format'))))
      this.#add(path, `${pathText(path)}: ${typeFault(value, types, schema, path)}`);
    else if (Array.isArray(value))
      for (const [index, item] of value.entries())
        this.check(item, recordAt(schema, 'items'), [...path, index]);
    else if (isRecord(value)) this.#checkFields(value, schema, path);
  }

  #checkFields(value: JsonObject, schema: JsonObject, path: Path): void {
    const { properties, additionalProperties } = schema;
    for (const [key, inner] of Object.entries(value)) {
      const below = [...path, key];
      if (isRecord(properties) && Object.hasOwn(properties, key))
        this.check(inner, recordAt(properties, key), below);
      else if (isRecord(additionalProperties)) this.check(inner, additionalProperties, below);
      else if (isRecord(properties) && schema['x-kubernetes-preserve-unknown-fields'] !== true)
        this.#add(below, unknownField(below, nearest(key, Object.keys(properties))));
    }
  }

  #add(path: Path, message: string): void {
    if (this.faults.length < maxFaults) this.faults.push({ path, message });
  }
}

function unknownField(path: Path, similar: readonly string[]): string {
  const hint = similar.length > 0 ? `; did you mean ${similar.join(' or ')}?` : '';
  return `unknown field ${JSON.stringify(pathText(path))}${hint}`;
}

function isOfType(value: unknown, type: string, format: string): boolean {
  switch (type) {
    case 'string':
      // OpenAPI version 2 and older documents give IntOrString the type `string`.
      return typeof value === 'string' || (format === 'int-or-string' && Number.isInteger(value));
    case 'integer':
      return Number.isSafeInteger(value) && (format !== 'int32' || (Number(value) | 0) === value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    default:
      // The types number and boolean have the same names in JavaScript.
      return typeof value === type;
  }
}

const names: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of fields',
};

function typeFault(value: unknown, types: readonly string[], schema: JsonObject, path: Path): string {
  const wanted = [...new Set(types.map((type) => names[type] ?? type))].join(' or ');
  return `expected ${wanted}, got ${shown(value, types)}${advice(value, types, schema, path)}`;
}

/** Maximum number of characters of a value that a message repeats. */
const longest = 60;

function shown(value: unknown, types: readonly string[]): string {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'a mapping';
  if (typeof value === 'string') {
    const isScalar = !types.includes('array') && !types.includes('object');
    return isScalar
      ? JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value)
      : 'a string';
  }
  return `the ${typeof value} ${value}`;
}

/** Returns the correction, with the separator in front; an empty string if none is known. */
function advice(value: unknown, types: readonly string[], schema: JsonObject, path: Path): string {
  if (types.includes('string')) return stringAdvice(value);
  if (types.includes('integer')) return integerAdvice(value);
  if (types.includes('boolean')) return value === 'true' || value === 'false' ? '; leave the quotes out' : '';
  return types.includes('array') ? listAdvice(value, schema, path) : '';
}

const stringAdvice = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'boolean' ? '; put it in quotes' : '';

function integerAdvice(value: unknown): string {
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return '; leave the quotes out';
  return Number.isInteger(value) ? '; it is out of range' : '';
}

function listAdvice(value: unknown, schema: JsonObject, path: Path): string {
  if (isRecord(value)) return '; begin each item with "- "';
  const key = path.findLast((step) => typeof step === 'string');
  const items = textAt(schema, 'items', 'type');
  if (typeof value !== 'string' || value.length > longest || items !== 'string' || !value.trim()) return '';
  return `; write ${key}: [${value
    .trim()
    .split(/\s+/)
    .map((word) => JSON.stringify(word))
    .join(', ')}]`;
}
