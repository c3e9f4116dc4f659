/** JSONata by the library `jsonata`, with the functions that the States Language adds and without `$eval`. */
import jsonata from 'jsonata';
import type { Random } from '../../base/random.ts';
import { seeded } from '../../base/seeded.ts';
import { StateError } from '../failure.ts';
import { callFunction, type FunctionName } from '../intrinsics/functions.ts';
import type { Json } from '../json.ts';
import { type Question, sizeProblem } from './expression.ts';

/**
 * Limits of the library. A user's regular expression ignores them, so that the thread needs a timeout too
 * (thread.ts).
 */
const limits = { timeout: 2000, stack: 300, sequence: 300_000 };

/**
 * Returns the fault of an expression, or undefined. For some texts the time is quadratic in their length:
 * seconds.
 */
export function expressionProblem(text: string): string | undefined {
  const excess = sizeProblem(text);
  if (excess !== undefined) return excess;
  try {
    jsonata(text);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Evaluates on the calling thread; used by the worker (worker.ts) and by tests. Rejects with an Error. */
export async function evaluateHere({ expression, bindings, now, seed }: Question): Promise<Json> {
  const lot = randomFrom(seed);
  let value: unknown;
  try {
    const compiled = jsonata(expression, limits);
    for (const [name, [signature, run]] of Object.entries(added(lot)))
      compiled.registerFunction(name, run, signature);
    compiled.registerFunction('millis', () => now, '<:n>');
    const clock = await jsonata(
      `function($picture, $zone) { $fromMillis(${now}, $picture, $zone) }`,
    ).evaluate(null);
    value = await compiled.evaluate(undefined, { ...bindings, now: clock });
  } catch (error) {
    throw new Error(reasonOf(error));
  }
  if (value === undefined) throw new Error('the expression has no value');
  return plain(value);
}

type Added = readonly [signature: string, run: (...values: Json[]) => Json];

function added(random: Random): Readonly<Record<string, Added>> {
  const call = (name: FunctionName, ...values: Json[]) => callFunction(name, values, random);
  return {
    partition: ['<an:a>', (items = null, size = null) => call('States.ArrayPartition', items, size)],
    range: ['<nnn:a>', (from = null, to = null, by = null) => call('States.ArrayRange', from, to, by)],
    hash: ['<xs:s>', (data = null, algorithm = null) => call('States.Hash', data, algorithm)],
    random: ['<n?:n>', (seed) => (typeof seed === 'number' ? seeded(seed)() : random.next())],
    uuid: ['<:s>', () => random.uuid()],
    parse: ['<s:x>', (text = null) => call('States.StringToJson', text)],
    shuffle: ['<a:a>', (items) => shuffled(Array.isArray(items) ? items : [], random)],
    eval: [
      '<sx?:x>',
      () => {
        throw new Error('$eval is not part of the States Language');
      },
    ],
  };
}

/** Shuffles by the algorithm of Fisher and Yates. */
function shuffled(items: readonly Json[], random: Random): Json {
  const result = [...items];
  for (let at = result.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [result[at], result[other]] = [result[other] ?? null, result[at] ?? null];
  }
  return result;
}

/** Returns randomness from the seed, so that the same question always has the same answer. */
function randomFrom(seed: number): Random {
  const next = seeded(seed);
  const hex = (length: number) => Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join('');
  const variant = () => '89ab'[Math.floor(next() * 4)];
  return { next, uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${variant()}${hex(3)}-${hex(12)}` };
}

/** Returns the value without the library's marks on lists. Throws for values that are not data. */
function plain(value: unknown): Json {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    const marks = typeof inner === 'object' && inner !== null ? inner : {};
    if (typeof inner === 'function' || '_jsonata_lambda' in marks || '_jsonata_function' in marks)
      throw new Error('the value is a function');
    return inner;
  });
  if (text === undefined) throw new Error('the value is not JSON');
  return JSON.parse(text);
}

/** Returns the message. The library throws objects that are not Errors. */
function reasonOf(error: unknown): string {
  if (error instanceof StateError) return error.failure.cause;
  const { message, position } = error as { message?: unknown; position?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  return typeof position === 'number' && position > 0 ? `${text} (at character ${position})` : text;
}
