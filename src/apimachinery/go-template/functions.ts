/** Functions of Go templates, and the two that kubectl adds: `exists` and `base64decode`. */
import { isRecord } from '../equality.ts';
import { formatPlain, formatValue, formatWith } from './print.ts';
import { isTrue, TemplateError, type Value } from './values.ts';

type TemplateFunction = (args: readonly Value[]) => Value;

export const isFunction = (name: string): boolean => name === 'and' || name === 'or' || functions.has(name);

/** Throws TemplateError for arguments that the function does not take. */
export function callFunction(name: string, args: readonly Value[]): Value {
  const call = functions.get(name);
  if (!call) throw new TemplateError(`function ${JSON.stringify(name)} not defined`);
  return call(args);
}

const exactly =
  (count: number, name: string, call: TemplateFunction): TemplateFunction =>
  (args) => {
    if (args.length !== count)
      throw new TemplateError(`wrong number of args for ${name}: want ${count} got ${args.length}`);
    return call(args);
  };

const atLeastOne =
  (name: string, call: TemplateFunction): TemplateFunction =>
  (args) => {
    if (args.length === 0) throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`);
    return call(args);
  };

/** Joins with blanks between neighbors of which neither is a text, as Go's Sprint. */
function print(args: readonly Value[]): string {
  return args
    .map((value, index) => {
      const apart = index > 0 && typeof value !== 'string' && typeof args[index - 1] !== 'string';
      return (apart ? ' ' : '') + formatValue(value);
    })
    .join('');
}

/** Returns the text that the escaping functions change. */
const textOf = (args: readonly Value[]): string => (args.length === 1 ? formatPlain(args[0]) : print(args));

function lengthOf([value]: readonly Value[]): bigint {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
  if (Array.isArray(value)) return BigInt(value.length);
  if (isRecord(value)) return BigInt(Object.keys(value).length);
  throw new TemplateError(`error calling len: len of ${formatValue(value)} has no length`);
}

function positionOf(value: Value, max: number, name: string): number {
  if (typeof value !== 'bigint')
    throw new TemplateError(`error calling ${name}: cannot index slice/array with ${formatValue(value)}`);
  if (value < 0n || value > BigInt(max))
    throw new TemplateError(`error calling ${name}: index out of range: ${value}`);
  return Number(value);
}

function indexed([value, ...keys]: readonly Value[]): Value {
  let found: Value = value;
  for (const key of keys) found = indexOne(found, key);
  return found;
}

function indexOne(value: Value, key: Value): Value {
  if (value === undefined || value === null)
    throw new TemplateError('error calling index: index of untyped nil');
  if (isRecord(value)) {
    if (typeof key !== 'string') throw new TemplateError('error calling index: the key is not a string');
    return Object.hasOwn(value, key) ? (value[key] as Value) : undefined;
  }
  if (typeof value === 'string')
    return BigInt(Buffer.from(value)[positionOf(key, Buffer.byteLength(value) - 1, 'index')] ?? 0);
  if (Array.isArray(value)) return value[positionOf(key, value.length - 1, 'index')] as Value;
  throw new TemplateError(`error calling index: can't index item of ${formatValue(value)}`);
}

function sliced([value, ...ends]: readonly Value[]): Value {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return bytes.subarray(...range(ends, bytes.length, 2)).toString();
  }
  if (Array.isArray(value)) return value.slice(...range(ends, value.length, 3));
  throw new TemplateError(`error calling slice: can't slice item of ${formatValue(value)}`);
}

function range(ends: readonly Value[], length: number, maxEnds: number): [number, number] {
  if (ends.length > maxEnds) throw new TemplateError('error calling slice: too many slice indexes');
  const from = positionOf(ends[0] ?? 0n, length, 'slice');
  const to = positionOf(ends[1] ?? BigInt(length), length, 'slice');
  if (from > to) throw new TemplateError(`error calling slice: invalid slice index: ${from} > ${to}`);
  return [from, to];
}

const isNil = (value: Value) => value === undefined || value === null;

function equal([first, ...others]: readonly Value[]): boolean {
  if (others.length === 0) throw new TemplateError('error calling eq: missing argument for comparison');
  return others.some((other) => isSame(first, other));
}

function isSame(a: Value, b: Value): boolean {
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b);
  if (typeof a !== typeof b) throw new TemplateError('error calling eq: incompatible types for comparison');
  if (typeof a === 'object') throw new TemplateError('error calling eq: non-comparable type');
  return a === b;
}

function isLess(a: Value, b: Value): boolean {
  if (typeof a !== typeof b || isNil(a) || typeof a === 'object' || typeof a === 'boolean')
    throw new TemplateError('error calling lt: incompatible types for comparison');
  return (a as string) < (b as string);
}

const htmlMarks: Readonly<Record<string, string>> = {
  ...{ '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;', '&': '&amp;', '\0': '\uFFFD' },
};

const jsMarks: Readonly<Record<string, string>> = {
  ...{ '\\': '\\\\', "'": "\\'", '"': '\\"', '<': '\\u003C', '>': '\\u003E' },
  ...{ '&': '\\u0026', '=': '\\u003D' },
};

/** Escapes marks of scripts and everything that is not printable. */
const asScript = (text: string) =>
  text.replaceAll(
    /[\\'"<>&=]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu,
    (mark) => jsMarks[mark] ?? `\\u${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );

const asQuery = (text: string) =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** Returns whether all keys exist, each in the value of the previous one. */
function exists([value, ...keys]: readonly Value[]): boolean {
  let found: Value = value;
  for (const key of keys) {
    const isKey = isRecord(found) && typeof key === 'string' && Object.hasOwn(found, key);
    const isIndex =
      Array.isArray(found) && typeof key === 'bigint' && key >= 0n && key < BigInt(found.length);
    if (!isKey && !isIndex) return false;
    found = indexOne(found, key);
  }
  return !isNil(found);
}

function decoded([value]: readonly Value[]): string {
  if (typeof value !== 'string')
    throw new TemplateError('wrong type for value; expected string; got another type');
  if (!/^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/.test(value))
    throw new TemplateError('error calling base64decode: base64 decode: illegal base64 data');
  return Buffer.from(value, 'base64').toString();
}

const functions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['not', exactly(1, 'not', ([value]) => !isTrue(value))],
  ['len', exactly(1, 'len', lengthOf)],
  ['index', atLeastOne('index', indexed)],
  ['slice', atLeastOne('slice', sliced)],
  ['print', print],
  ['println', (args) => `${args.map(formatValue).join(' ')}\n`],
  ['printf', atLeastOne('printf', ([format, ...args]) => formatWith(formatText(format), args))],
  ['html', (args) => textOf(args).replaceAll(/[<>"'&\0]/g, (mark) => htmlMarks[mark] ?? mark)],
  ['js', (args) => asScript(textOf(args))],
  ['urlquery', (args) => asQuery(textOf(args))],
  ['eq', atLeastOne('eq', equal)],
  ['ne', exactly(2, 'ne', ([a, b]) => !isSame(a, b))],
  ['lt', exactly(2, 'lt', ([a, b]) => isLess(a, b))],
  ['le', exactly(2, 'le', ([a, b]) => isLess(a, b) || isSame(a, b))],
  ['gt', exactly(2, 'gt', ([a, b]) => isLess(b, a))],
  ['ge', exactly(2, 'ge', ([a, b]) => isLess(b, a) || isSame(a, b))],
  ['exists', atLeastOne('exists', exists)],
  ['base64decode', exactly(1, 'base64decode', decoded)],
]);

function formatText(value: Value): string {
  if (typeof value !== 'string')
    throw new TemplateError('wrong type for value; expected string as the format of printf');
  return value;
}
