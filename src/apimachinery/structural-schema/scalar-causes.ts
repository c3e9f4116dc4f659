/**
 * Limits of a schema for texts and numbers, its types and enumerations, in the words of upstream's validator
 * (k8s.io/kube-openapi/pkg/validation).
 */
import { identityOf, isRecord } from '../equality.ts';
import { invalidCause, notSupportedCause, tooLongCause } from '../field-error.ts';
import { compilePattern, type Pattern, PatternError } from '../re2.ts';
import type { StatusCause } from '../status-error.ts';
import type { StructuralSchema } from './schema.ts';
import { formatCheck } from './string-formats.ts';
import type { Matches } from './text-matches.ts';

/** The name by which messages call a value, and the field of its causes. */
export interface Named {
  readonly name: string;
  readonly field: string;
}

/**
 * Creates a cause. It is created late, because only the causes of the nearest of several alternatives are
 * reported.
 */
export type LateCause = () => StatusCause;

const wrong =
  ({ name, field }: Named, value: unknown, why: string): LateCause =>
  () =>
    invalidCause(field, value, `${name} in body ${why}`);

/** Returns the cause for too few items or properties; the message shows the count. */
export const tooFewCause = (at: Named, count: number, least: number, what: string): LateCause =>
  wrong(at, count, `should have at least ${least} ${what}`);

/** Returns the types that a value may have; empty if the schema allows all. */
function typesOf({ type, 'x-kubernetes-int-or-string': isIntOrString }: StructuralSchema): readonly string[] {
  if (isIntOrString) return intOrString;
  return type ? [type] : [];
}

const intOrString = ['integer', 'string'];

/** Returns the JSON schema type of a value; a whole number is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) <= 2 ** 63 ? 'integer' : 'number';
  return typeof value;
}

export function typeCause(value: unknown, schema: StructuralSchema, at: Named): LateCause | undefined {
  const types = typesOf(schema);
  const actual = typeOfValue(value);
  if (types.length === 0 || types.includes(actual)) return undefined;
  if (actual === 'integer' && types.includes('number')) return undefined;
  if (actual === 'null' && schema.nullable) return undefined;
  return wrongType(at, actual, types.join(','));
}

function wrongType(at: Named, shown: string, type: string): LateCause {
  return () => ({
    ...wrong(at, shown, `must be of type ${type}: ${JSON.stringify(shown)}`)(),
    reason: 'FieldValueTypeInvalid',
  });
}

/** Maximum of supported values that a message lists. */
const maxListed = 200;

export function enumCause(value: unknown, schema: StructuralSchema, at: Named): LateCause | undefined {
  if (!schema.enum || schema.enum.length === 0) return undefined;
  const { identities, listed } = enumOf(schema);
  // Upstream finds no null in an enumeration, also where it is listed.
  if (value !== null && identities.has(identityOf(value))) return undefined;
  // Go shows a nil value as a text.
  return () => notSupportedCause(at.field, value ?? 'null', listed);
}

interface Enumeration {
  readonly identities: ReadonlySet<string>;
  readonly listed: readonly string[];
}

const enumerations = new WeakMap<StructuralSchema, Enumeration>();

function enumOf(schema: StructuralSchema): Enumeration {
  const known = enumerations.get(schema);
  if (known) return known;
  const values = schema.enum ?? [];
  const listed = values
    .slice(0, maxListed)
    .map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')));
  const made = {
    identities: new Set(values.map(identityOf)),
    listed: values.length > maxListed ? [...listed, '…'] : listed,
  };
  enumerations.set(schema, made);
  return made;
}

export function numberCauses(value: number, schema: StructuralSchema, at: Named): LateCause[] {
  const { minimum, maximum, multipleOf } = schema;
  const show = (limit: number) => (Number.isInteger(value) ? `${Math.trunc(limit)}` : goFloat(limit));
  const causes: LateCause[] = [];
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    causes.push(wrong(at, value, `should be a multiple of ${show(multipleOf)}`));
  if (minimum !== undefined && isBeyond(minimum, value, schema.exclusiveMinimum))
    causes.push(
      wrong(at, value, `should be greater than ${orEqual(schema.exclusiveMinimum)}${show(minimum)}`),
    );
  if (maximum !== undefined && isBeyond(value, maximum, schema.exclusiveMaximum))
    causes.push(wrong(at, value, `should be less than ${orEqual(schema.exclusiveMaximum)}${show(maximum)}`));
  return causes;
}

const isBeyond = (value: number, limit: number, exclusive: boolean | undefined) =>
  exclusive ? value >= limit : value > limit;
const orEqual = (exclusive: boolean | undefined) => (exclusive ? '' : 'or equal to ');

/** Tolerates the rounding of a division in binary: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  if (factor <= 0) return false;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * 1e-9;
}

/** Returns a number as Go's `%v` writes a float64: with an exponent from a million on and below 0.0001. */
function goFloat(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 6) return `${value}`;
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Lengths are counted in characters, not in bytes. The first limit that a text exceeds is reported. */
export function textCause(
  value: string,
  schema: StructuralSchema,
  at: Named,
  matches: Matches,
): LateCause | undefined {
  const { minLength, maxLength } = schema;
  if (maxLength !== undefined && isLongerThan(value, maxLength))
    return () => tooLongCause(at.field, maxLength);
  if (minLength !== undefined && !isLongerThan(value, minLength - 1))
    return wrong(at, value, `should be at least ${minLength} chars long`);
  return patternCause(value, schema, at, matches);
}

function isLongerThan(text: string, length: number): boolean {
  if (text.length <= length) return false;
  if (text.length > 2 * length) return true;
  return [...text].length > length;
}

function patternCause(
  value: string,
  schema: StructuralSchema,
  at: Named,
  matches: Matches,
): LateCause | undefined {
  if (!schema.pattern) return undefined;
  const pattern = patternOf(schema, schema.pattern);
  if (pattern instanceof PatternError)
    return wrong(at, value, `should match '${schema.pattern}, but pattern is invalid: ${pattern.message}'`);
  return matches.test(pattern, value) ? undefined : wrong(at, value, `should match '${schema.pattern}'`);
}

const patterns = new WeakMap<StructuralSchema, Pattern | PatternError>();

/** Returns the compiled pattern, or the reason why it is none. */
function patternOf(schema: StructuralSchema, text: string): Pattern | PatternError {
  const known = patterns.get(schema);
  if (known) return known;
  const made = compiled(text);
  patterns.set(schema, made);
  return made;
}

function compiled(text: string): Pattern | PatternError {
  try {
    return compilePattern(text);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}

/** Returns the cause for a text that does not have the schema's format. */
export function formatCause(value: string, schema: StructuralSchema, at: Named): LateCause | undefined {
  const { format } = schema;
  const check = format ? formatCheck(format) : undefined;
  return !format || !check || check(value) ? undefined : wrongType(at, value, format);
}

/** Returns the list type's key of an item: the values of its key fields. */
export function mapKey(item: unknown, keys: readonly string[]): Record<string, unknown> {
  const key: Record<string, unknown> = {};
  if (isRecord(item)) for (const name of keys) if (Object.hasOwn(item, name)) key[name] = item[name];
  return key;
}
