/**
 * Evaluation of a schema's rules for an object (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel):
 * transition rules, the budget of cost, and rules that an unchanged value already broke. Pure.
 */
import { deepEqual, identityOf, isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  joinPath,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import type { Steps } from '../../../apimachinery/steps.ts';
import { mapKey } from '../../../apimachinery/structural-schema/scalar-causes.ts';
import {
  extraOf,
  isEmbedded,
  propertyOf,
  type StructuralSchema,
} from '../../../apimachinery/structural-schema/schema.ts';
import type { Compiled } from '../../../cel/compile.ts';
import { CelError, CostError } from '../../../cel/error.ts';
import { Budget, requestLimit } from '../../../cel/evaluation/run.ts';
import { fromJson } from '../../../cel/values/json.ts';
import { Fault, Optional, type Value } from '../../../cel/values/value.ts';
import { type CompiledRule, Refusal } from './compiled-rules.ts';
import { type RuledSchema, ruledSchema } from './ruled-schema.ts';

/** Returns the causes of the rules that the object breaks; `old` is the object that it replaces. */
export function* ruleCauses(
  object: JsonObject,
  schema: StructuralSchema,
  old?: JsonObject,
): Steps<StatusCause[]> {
  const ruled = yield* ruledSchema(schema, true);
  if (!ruled) return [];
  const work: Work = { causes: [], budget: new Budget(requestLimit), isOver: false };
  const pair = old && { value: object, old };
  yield* visit(object, ruled, { path: '', old, current: pair, nearest: undefined }, work);
  return work.causes;
}

/**
 * Returns the causes of the rules that a schema's default breaks, as a new value and as one that does not
 * change; `path` is the field of the default.
 */
export function* defaultRuleCauses(schema: StructuralSchema, path: string): Steps<StatusCause[]> {
  const ruled = yield* ruledSchema(schema, isEmbedded(schema));
  if (!ruled) return [];
  const work: Work = { causes: [], budget: new Budget(requestLimit), isOver: false };
  const value = schema.default;
  yield* visit(value, ruled, { path, old: value, current: undefined, nearest: undefined }, work);
  if (work.causes.length === 0)
    yield* visit(value, ruled, { path, old: undefined, current: undefined, nearest: undefined }, work);
  return work.causes;
}

const notChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const blocking: ReadonlySet<string> = new Set([
  ...['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany'],
  'FieldValueTypeInvalid',
]);

/**
 * Returns the causes of rules after those of the schema. The rules of an object with wrong types are not
 * evaluated; a cause reports that.
 */
export function* ruleCausesAfter(
  causes: readonly StatusCause[],
  ...[object, schema, old]: Parameters<typeof ruleCauses>
): Steps<StatusCause[]> {
  if (!(yield* ruledSchema(schema, true))) return [];
  const isBlocked = causes.some(({ reason = '' }) => blocking.has(reason));
  return isBlocked ? [invalidCause('<nil>', 'null', notChecked)] : yield* ruleCauses(object, schema, old);
}

/** Upstream's limit for what a messageExpression returns, in bytes. */
const maxMessageLength = 5 * 1024;

interface Work {
  readonly causes: StatusCause[];
  readonly budget: Budget;
  /** True when the budget is spent: no other rule is evaluated. */
  isOver: boolean;
}

/** A value and the old value that stands in its place. */
interface Pair {
  readonly value: unknown;
  readonly old: unknown;
}

interface Place {
  readonly path: string;
  /** The value to compare with in transition rules; undefined if there is none. */
  readonly old: unknown;
  /** The value with its old one, if it has one. An unchanged value may break a rule. */
  readonly current: Pair | undefined;
  readonly nearest: Pair | undefined;
}

function* visit(value: unknown, ruled: RuledSchema, place: Place, work: Work): Steps<void> {
  if (value === null || value === undefined || work.isOver) return;
  yield* evaluateAll(value, ruled, place, work);
  if (Array.isArray(value)) yield* visitItems(value, ruled, place, work);
  else if (isRecord(value)) yield* visitFields(value, ruled, place, work);
}

function* visitFields(
  object: JsonObject,
  { schema, inner }: RuledSchema,
  place: Place,
  work: Work,
): Steps<void> {
  for (const [key, value] of Object.entries(object)) {
    const own = propertyOf(schema, key);
    const next = own ?? extraOf(schema);
    const ruled = next && inner.get(next);
    if (ruled) yield* visit(value, ruled, fieldPlace(key, value, place, own !== undefined), work);
  }
}

function fieldPlace(key: string, value: unknown, place: Place, isNamed: boolean): Place {
  const path = isNamed ? joinPath(place.path, key) : `${place.path}[${key}]`;
  const old = isRecord(place.old) && Object.hasOwn(place.old, key) ? place.old[key] : undefined;
  const { current, nearest } = place;
  if (!current) return { path, old, current, nearest };
  if (!nearest && (key === 'apiVersion' || key === 'kind'))
    return { path, old, current: undefined, nearest: undefined };
  const before =
    isRecord(current.old) && Object.hasOwn(current.old, key) ? { value, old: current.old[key] } : undefined;
  return { path, old, current: before, nearest: current };
}

function* visitItems(
  list: readonly unknown[],
  { schema, inner }: RuledSchema,
  place: Place,
  work: Work,
): Steps<void> {
  const ruled = schema.items && inner.get(schema.items);
  if (!ruled) return;
  const oldItem = oldItems(schema, place.old);
  for (const [index, value] of list.entries()) {
    const old = oldItem(value);
    const current = place.current && old !== undefined ? { value, old } : undefined;
    const nearest = place.current ?? place.nearest;
    yield* visit(value, ruled, { path: `${place.path}[${index}]`, old, current, nearest }, work);
  }
}

/** Returns a function that finds the old item with the same keys; lists without keys have none. */
function oldItems(schema: StructuralSchema, old: unknown): (item: unknown) => unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const byKey = new Map<string, unknown>();
  for (const item of old) byKey.set(identityOf(mapKey(item, keys)), item);
  return (item) => byKey.get(identityOf(mapKey(item, keys)));
}

const fieldOf = (path: string) => path || '<nil>';

function* evaluateAll(value: unknown, ruled: RuledSchema, place: Place, work: Work): Steps<void> {
  for (const compiled of ruled.rules) {
    if (work.isOver) return;
    if (appliesTo(compiled, place)) yield* evaluate(value, compiled, ruled, place, work);
    yield;
  }
}

/** A transition rule does not apply to a value that has no old one, unless it says that it does. */
const appliesTo = ({ usesOldSelf, rule }: CompiledRule, { old }: Place) =>
  !usesOldSelf || rule.optionalOldSelf === true || (old !== undefined && old !== null);

function* evaluate(
  value: unknown,
  compiled: CompiledRule,
  ruled: RuledSchema,
  place: Place,
  work: Work,
): Steps<void> {
  const shown = ruled.schema.type ?? '';
  const { program, rule } = compiled;
  if (program instanceof Refusal) {
    add(work, invalidCause(fieldOf(place.path), shown, `rule compile error: ${program.detail}`));
    return;
  }
  const variables = variablesOf(value, compiled, ruled, place);
  const result = yield* run(program, variables, work);
  if (result instanceof CelError) fail(result, textOf(rule), { path: place.path, shown }, work);
  else if (result !== true) yield* report(compiled, variables, { place, shown }, work);
}

function variablesOf(value: unknown, { rule }: CompiledRule, { type }: RuledSchema, { old }: Place) {
  const isThere = old !== undefined && old !== null;
  const oldSelf = rule.optionalOldSelf
    ? new Optional(isThere ? celValue(old, type) : undefined)
    : isThere
      ? old
      : null;
  return { self: value, oldSelf };
}

function celValue(json: unknown, type: RuledSchema['type']): Value {
  const value = fromJson(json, type);
  return value instanceof Fault ? null : value;
}

/** Returns the value, or the error that ends the evaluation. */
function* run(
  program: Compiled,
  variables: Readonly<Record<string, unknown>>,
  { budget }: Work,
): Steps<Value | CelError> {
  try {
    return yield* program.evaluateInSteps(variables, budget);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

interface Where {
  readonly path: string;
  /** The type of the schema, which messages show in place of the value. */
  readonly shown: string;
}

function fail(error: CelError, rule: string, { path, shown }: Where, work: Work): void {
  const add = (detail: string) => work.causes.push(invalidCause(fieldOf(path), shown, detail));
  if (error instanceof CostError) {
    work.isOver = true;
    add(
      work.budget.remaining <= 0
        ? 'validation failed due to running out of cost budget, no further validation rules will be run'
        : `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
    );
  } else if (error.message.startsWith('no such overload'))
    add(
      `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`,
    );
  else add(`${error.message} evaluating rule: ${rule}`);
}

/** Adds the cause of a broken rule, unless the value did not change and the rule does not compare it. */
function* report(
  compiled: CompiledRule,
  variables: Readonly<Record<string, unknown>>,
  { place, shown }: { readonly place: Place; readonly shown: string },
  work: Work,
): Steps<void> {
  const { rule, usesOldSelf, fieldPath } = compiled;
  const pair = place.current ?? place.nearest;
  if (!usesOldSelf && pair && deepEqual(pair.value, pair.old)) return;
  const path = fieldOf(fieldPath ? joinPath(place.path, fieldPath) : place.path);
  const message = yield* messageOf(compiled, variables, work);
  add(work, work.isOver ? invalidCause(path, shown, message) : causeFor(rule.reason, path, shown, message));
}

function add({ causes }: Work, cause: StatusCause): void {
  if (causes.length <= maxCauses) causes.push(cause);
}

function causeFor(reason: string | undefined, path: string, shown: string, message: string): StatusCause {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenCause(path, message);
    case 'FieldValueRequired':
      return requiredCause(path, message);
    case 'FieldValueDuplicate':
      return duplicateCause(path, shown);
    default:
      return invalidCause(path, shown, message);
  }
}

/** Returns the rule's message, or the rule itself. */
const textOf = ({ message, rule }: CompiledRule['rule']) => (message || rule).trim();

function* messageOf(
  compiled: CompiledRule,
  variables: Readonly<Record<string, unknown>>,
  work: Work,
): Steps<string> {
  const { rule, message } = compiled;
  const plain = rule.message ? rule.message.trim() : `failed rule: ${textOf(rule)}`;
  if (!message || message instanceof Refusal) return plain;
  const result = yield* run(message, variables, work);
  if (result instanceof CostError) return costMessage(rule.messageExpression ?? '', work);
  if (typeof result !== 'string') return plain;
  const text = result.trim();
  const isUsable = text !== '' && !/[\n\r]/.test(text) && Buffer.byteLength(text) <= maxMessageLength;
  return isUsable ? text : plain;
}

function costMessage(expression: string, work: Work): string {
  work.isOver = true;
  return work.budget.remaining <= 0
    ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
    : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(expression)}`;
}
