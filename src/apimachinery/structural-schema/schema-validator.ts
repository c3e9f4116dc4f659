/**
 * Validation of a value by the value validations of a schema, in the words of upstream's validator
 * (k8s.io/kube-openapi/pkg/validation/validate). Parts that are equal to the old value are let through.
 */
import { deepEqual, identityOf, isRecord, type JsonObject } from '../equality.ts';
import { invalidCause, joinPath, requiredCause, tooManyCause } from '../field-error.ts';
import { maxCauses } from '../status-error.ts';
import {
  enumCause,
  formatCause,
  type LateCause,
  mapKey,
  type Named,
  numberCauses,
  textCause,
  tooFewCause,
  typeCause,
} from './scalar-causes.ts';
import { extraOf, propertyOf, type StructuralSchema } from './schema.ts';
import type { Matches } from './text-matches.ts';

/** The outcome for a value; `matches` counts checks, by which the nearest of several schemas is found. */
export interface Outcome {
  readonly causes: LateCause[];
  matches: number;
}

/** Thrown when the validation of one value takes too many steps. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';
}

/**
 * Maximum of pairs of a value and a schema in the validation of one object. A schema of many alternatives
 * for the items of a long list would hold the thread.
 */
export const maxSteps = 150_000;

/** Characters that count as one step when a text is matched. */
const charactersPerStep = 64;

/** State of the validation of one object. */
export interface Run {
  /** Prefix of the fields of causes; the texts of messages do not have it. */
  readonly base: string;
  steps: number;
  readonly matches: Matches;
}

/** Position of a value; `old` is the value that it replaces, if there is one. */
interface Place {
  readonly path: string;
  readonly old?: { readonly value: unknown } | undefined;
  readonly run: Run;
}

/** Throws TooManySteps. */
export function validate(value: unknown, schema: StructuralSchema, place: Place): Outcome {
  const outcome = validateNew(value, schema, place);
  if (outcome.causes.length > 0 && place.old && deepEqual(value, place.old.value))
    return { causes: [], matches: outcome.matches };
  return outcome;
}

function validateNew(value: unknown, schema: StructuralSchema, place: Place): Outcome {
  const outcome: Outcome = { causes: [], matches: 1 };
  spend(place.run, 1);
  const at = named(place);
  const wrong = typeCause(value, schema, at);
  if (wrong) report(outcome, wrong);
  else outcome.matches++;
  if (value !== null) {
    validateAlternatives(value, schema, place, outcome);
    validateByType(value, schema, place, outcome);
  }
  report(outcome, enumCause(value, schema, at));
  return outcome;
}

function spend(run: Run, steps: number): void {
  run.steps += steps;
  if (run.steps > maxSteps) throw new TooManySteps('the validation takes too many steps');
}

/** Go shows an empty path as `<nil>`. */
const fieldOf = ({ run: { base }, path }: Place) =>
  base && path ? `${base}.${path}` : base || path || '<nil>';
const named = (place: Place): Named => ({ name: place.path, field: fieldOf(place) });

function report(outcome: Outcome, cause: LateCause | undefined): void {
  if (cause && !isFull(outcome)) outcome.causes.push(cause);
}

/** Returns true if no other cause would be listed. */
const isFull = ({ causes }: Outcome) => causes.length > maxCauses;

function merge(outcome: Outcome, inner: Outcome): void {
  for (const cause of inner.causes) report(outcome, cause);
  outcome.matches += inner.matches;
}

function validateByType(value: unknown, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  if (typeof value === 'string') {
    if (schema.pattern || schema.format) spend(place.run, value.length / charactersPerStep);
    report(outcome, textCause(value, schema, named(place), place.run.matches));
    report(outcome, formatCause(value, schema, named(place)));
  } else if (typeof value === 'number') {
    for (const cause of numberCauses(value, schema, named(place))) report(outcome, cause);
  } else if (Array.isArray(value)) validateList(value, schema, place, outcome);
  else if (isRecord(value)) validateObject(value, schema, place, outcome);
}

/** Reports a problem of the alternatives of a schema; upstream's has no field. */
function reportChoice(outcome: Outcome, place: Place, why: string): void {
  report(outcome, () => invalidCause(place.run.base || '<nil>', '', `${JSON.stringify(place.path)} ${why}`));
}

function validateAlternatives(
  value: unknown,
  schema: StructuralSchema,
  place: Place,
  outcome: Outcome,
): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) validateAnyOf(value, anyOf, place, outcome);
  if (oneOf.length > 0) validateOneOf(value, oneOf, place, outcome);
  if (allOf.length > 0) validateAllOf(value, allOf, place, outcome);
  if (not && isValid(validateNew(value, not, place)))
    reportChoice(outcome, place, 'must not validate the schema (not)');
}

const isValid = ({ causes }: Outcome) => causes.length === 0;

type Schemas = readonly StructuralSchema[];

function validateAnyOf(value: unknown, schemas: Schemas, place: Place, outcome: Outcome): void {
  let nearest: Outcome | undefined;
  for (const schema of schemas) {
    const tried = validateNew(value, schema, place);
    if (isValid(tried)) {
      merge(outcome, tried);
      return;
    }
    if (!nearest || tried.matches > nearest.matches) nearest = tried;
  }
  reportChoice(outcome, place, 'must validate at least one schema (anyOf)');
  if (nearest) merge(outcome, nearest);
}

function validateOneOf(value: unknown, schemas: Schemas, place: Place, outcome: Outcome): void {
  const tried = schemas.map((schema) => validateNew(value, schema, place));
  const valid = tried.filter(isValid);
  const [first] = valid;
  if (first && valid.length === 1) {
    merge(outcome, first);
    return;
  }
  const found = first ? `Found ${valid.length} valid alternatives` : 'Found none valid';
  reportChoice(outcome, place, `must validate one and only one schema (oneOf). ${found}`);
  if (first) return;
  const nearest = tried.reduce((best, one) => (one.matches > best.matches ? one : best));
  merge(outcome, nearest);
}

function validateAllOf(value: unknown, schemas: Schemas, place: Place, outcome: Outcome): void {
  let valid = 0;
  for (const schema of schemas) {
    const tried = validateNew(value, schema, place);
    if (isValid(tried)) valid++;
    merge(outcome, tried);
  }
  if (valid < schemas.length)
    reportChoice(
      outcome,
      place,
      `must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`,
    );
}

function validateList(
  list: readonly unknown[],
  schema: StructuralSchema,
  place: Place,
  outcome: Outcome,
): void {
  const { items, minItems, maxItems } = schema;
  if (items) validateItems(list, items, { place, oldItem: oldItems(schema, place) }, outcome);
  if (minItems !== undefined && list.length < minItems)
    report(outcome, tooFewCause(named(place), list.length, minItems, 'items'));
  if (maxItems !== undefined && list.length > maxItems)
    report(outcome, () => tooManyCause(fieldOf(place), list.length, maxItems));
  outcome.matches++;
}

function validateItems(
  list: readonly unknown[],
  items: StructuralSchema,
  { place, oldItem }: { readonly place: Place; readonly oldItem: ReturnType<typeof oldItems> },
  outcome: Outcome,
): void {
  for (const [index, item] of list.entries()) {
    if (isFull(outcome)) return;
    merge(outcome, validate(item, items, { ...place, path: `${place.path}[${index}]`, old: oldItem(item) }));
  }
}

/** Returns a function that finds the old item: only items of lists with keys have one. */
function oldItems(schema: StructuralSchema, { old }: Place): (item: unknown) => Place['old'] {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old?.value)) return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const byKey = new Map<string, unknown>();
  for (const item of old.value) byKey.set(identityOf(mapKey(item, keys)), item);
  return (item) => {
    const found = byKey.get(identityOf(mapKey(item, keys)));
    return found === undefined ? undefined : { value: found };
  };
}

function validateObject(object: JsonObject, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  checkCount(keys.length, schema, place, outcome);
  for (const key of keys) if (!isFull(outcome)) validateField(object[key], key, schema, place, outcome);
  for (const key of schema.required ?? [])
    if (!Object.hasOwn(object, key) || object[key] === undefined)
      report(outcome, () => requiredCause(fieldOf({ ...place, path: joinPath(place.path, key) })));
}

function checkCount(count: number, schema: StructuralSchema, place: Place, outcome: Outcome): void {
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && count < minProperties)
    report(outcome, tooFewCause(named(place), count, minProperties, 'properties'));
  if (maxProperties !== undefined && count > maxProperties)
    report(outcome, () => tooManyCause(fieldOf(place), count, maxProperties));
}

function validateField(
  value: unknown,
  key: string,
  schema: StructuralSchema,
  place: Place,
  outcome: Outcome,
): void {
  const inner = propertyOf(schema, key) ?? extraOf(schema);
  if (inner)
    merge(
      outcome,
      validate(value, inner, { ...place, path: joinPath(place.path, key), old: oldField(key, place) }),
    );
  else if (schema.additionalProperties === false) {
    const name = `${place.path}.${key} in body is a forbidden property`;
    report(outcome, () => invalidCause(fieldOf(place), key, name));
  }
}

/** Returns the old value of a field; apiVersion and kind of the object are always validated. */
function oldField(key: string, { path, old }: Place): Place['old'] {
  if (!isRecord(old?.value) || !Object.hasOwn(old.value, key)) return undefined;
  const isTypeMeta = path === '' && (key === 'apiVersion' || key === 'kind');
  return isTypeMeta ? undefined : { value: old.value[key] };
}
