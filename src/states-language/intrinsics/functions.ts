/**
 * Implementations of the intrinsic functions. Each maps values to a value, or throws States.IntrinsicFailure.
 */

import { identityOf } from '../../apimachinery/equality.ts';
import type { Random } from '../../base/random.ts';
import { seeded } from '../../base/seeded.ts';
import { stateError } from '../failure.ts';
import { hashNames, hashOf } from '../hash.ts';
import { excessOf, isJsonObject, isList, type Json } from '../json.ts';
import { maxData } from '../limits.ts';

/** Maximum number of items of States.ArrayRange. */
const maxRange = 1000;
/** Maximum characters for States.Base64Encode, Base64Decode and Hash. */
const maxText = 10_000;

type Do = (values: readonly Json[], random: Random) => Json;
type Definition = readonly [least: number, most: number, run: Do];

const many = Number.POSITIVE_INFINITY;

const functions = {
  'States.Format': [1, many, ([template, ...values]) => format(text(template), values)],
  'States.StringToJson': [1, 1, ([value]) => stringToJson(text(value))],
  'States.JsonToString': [1, 1, ([value]) => JSON.stringify(value)],
  'States.Array': [0, many, (values) => values],
  'States.ArrayPartition': [2, 2, ([items, size]) => partition(list(items), positive(size))],
  'States.ArrayContains': [2, 2, ([items, value]) => contains(list(items), value)],
  'States.ArrayRange': [3, 3, ([from, to, by]) => range(integer(from), integer(to), integer(by))],
  'States.ArrayGetItem': [2, 2, ([items, index]) => itemAt(list(items), integer(index))],
  'States.ArrayLength': [1, 1, ([items]) => list(items).length],
  'States.ArrayUnique': [1, 1, ([items]) => unique(list(items))],
  'States.Base64Encode': [1, 1, ([value]) => Buffer.from(shortText(value)).toString('base64')],
  'States.Base64Decode': [1, 1, ([value]) => decode(shortText(value))],
  'States.Hash': [2, 2, ([value, algorithm]) => digest(value, text(algorithm))],
  'States.JsonMerge': [3, 3, ([first, second, deep]) => merge(first, second, deep)],
  'States.MathRandom': [2, 3, ([from, to, seed], random) => draw(integer(from), integer(to), seed, random)],
  'States.MathAdd': [2, 2, ([a, b]) => integer(a) + integer(b)],
  'States.StringSplit': [2, 2, ([value, separators]) => split(text(value), text(separators))],
  'States.UUID': [0, 0, (_, random) => random.uuid()],
} satisfies Record<string, Definition>;

export type FunctionName = keyof typeof functions;

export interface Arity {
  readonly name: FunctionName;
  readonly least: number;
  readonly most: number;
}

/** Returns the number of arguments of a function, or undefined if there is no such function. */
export function arityOf(name: string): Arity | undefined {
  if (!Object.hasOwn(functions, name)) return undefined;
  const known = name as FunctionName;
  const [least, most] = functions[known];
  return { name: known, least, most };
}

/** Calls a function. `random` is used by MathRandom without a seed and by UUID. Throws StateError. */
export function callFunction(name: FunctionName, values: readonly Json[], random: Random): Json {
  const run: Do = functions[name][2];
  try {
    return run(values, random);
  } catch (error) {
    if (error instanceof Mismatch) throw stateError('States.IntrinsicFailure', `${name}: ${error.message}`);
    throw error;
  }
}

/** An argument has the wrong type or value. */
class Mismatch extends Error {}

function text(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Mismatch(`expected a text, not ${show(value)}`);
}

function shortText(value: Json | undefined): string {
  const found = text(value);
  if (found.length <= maxText) return found;
  throw new Mismatch(`the text has ${found.length} characters, and may have ${maxText}`);
}

function list(value: Json | undefined): readonly Json[] {
  if (isList(value)) return value;
  throw new Mismatch(`expected a list, not ${show(value)}`);
}

/** Returns an integer; fractions are rounded, as in the specification. */
function integer(value: Json | undefined): number {
  const rounded = typeof value === 'number' ? Math.round(value) : Number.NaN;
  if (Number.isSafeInteger(rounded)) return rounded;
  throw new Mismatch(`expected an integer, not ${show(value)}`);
}

function positive(value: Json | undefined): number {
  const found = integer(value);
  if (found > 0) return found;
  throw new Mismatch(`expected a number above 0, not ${found}`);
}

const show = (value: Json | undefined): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100);

function format(template: string, values: readonly Json[]): string {
  const parts: string[] = [];
  let used = 0;
  let part = '';
  for (let at = 0; at < template.length; at++) {
    const sign = template[at] ?? '';
    if (sign === '\\') part += template[++at] ?? '';
    else if (sign === '{' && template[at + 1] === '}') {
      at++;
      parts.push(part, inserted(values[used++]));
      part = '';
    } else part += sign;
  }
  if (used < values.length)
    throw new Mismatch(`the text has ${used} {}, and there are ${values.length} values`);
  return [...parts, part].join('');
}

/** Returns the text that stands for `{}`. */
function inserted(value: Json | undefined): string {
  if (value === undefined) throw new Mismatch('the text has more {} than there are values');
  if (typeof value === 'object' && value !== null)
    throw new Mismatch(`{} takes a text, a number, a boolean or null, not ${show(value)}`);
  return typeof value === 'string' ? value : String(value);
}

function stringToJson(value: string): Json {
  let parsed: Json;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new Mismatch(`the text is not JSON: ${show(value)}`);
  }
  const excess = excessOf(parsed, maxData);
  if (excess !== undefined) throw new Mismatch(`the JSON ${excess}`);
  return parsed;
}

function partition(items: readonly Json[], size: number): Json[] {
  const parts: Json[] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}

function contains(items: readonly Json[], value: Json | undefined): boolean {
  const wanted = identityOf(value);
  return items.some((item) => identityOf(item) === wanted);
}

/** Returns the range, including both ends. */
function range(from: number, to: number, by: number): Json {
  if (by === 0) throw new Mismatch('the step is 0');
  const count = Math.floor((to - from) / by) + 1;
  if (count > maxRange) throw new Mismatch(`it would have ${count} items, and may have ${maxRange}`);
  return Array.from({ length: Math.max(0, count) }, (_, at) => from + at * by);
}

function itemAt(items: readonly Json[], index: number): Json {
  const item = index < 0 ? undefined : items[index];
  if (item === undefined) throw new Mismatch(`there is no item ${index} in a list of ${items.length}`);
  return item;
}

function unique(items: readonly Json[]): Json {
  const seen = new Set<string>();
  return items.filter((item) => {
    const identity = identityOf(item);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

function decode(value: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw new Mismatch(`the text is not Base64: ${show(value)}`);
  return Buffer.from(value, 'base64').toString();
}

function digest(value: Json | undefined, algorithm: string): string {
  const data = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const found = hashOf(shortText(data), algorithm);
  if (found === undefined)
    throw new Mismatch(`the algorithm is one of ${hashNames.join(', ')}, not ${algorithm}`);
  return found;
}

function merge(first: Json | undefined, second: Json | undefined, deep: Json | undefined): Json {
  if (deep !== false) throw new Mismatch('only shallow merging is there: the third argument has to be false');
  if (isJsonObject(first) && isJsonObject(second)) return { ...first, ...second };
  throw new Mismatch(`expected two objects, not ${show(isJsonObject(first) ? second : first)}`);
}

/** Returns an integer from `from` (inclusive) to `to` (exclusive). */
function draw(from: number, to: number, seed: Json | undefined, random: Random): number {
  if (from >= to) throw new Mismatch(`there is no number from ${from} on and below ${to}`);
  const drawn = seed === undefined ? random.next() : seeded(integer(seed))();
  return from + Math.floor(drawn * (to - from));
}

/** Splits at each of the characters; empty parts are omitted. */
function split(value: string, separators: string): Json {
  const at = new Set(separators);
  const parts: string[] = [];
  let from = 0;
  let to = 0;
  for (const sign of value) {
    if (at.has(sign)) {
      if (to > from) parts.push(value.slice(from, to));
      from = to + sign.length;
    }
    to += sign.length;
  }
  if (to > from) parts.push(value.slice(from, to));
  return parts;
}
