/** Functions of the language itself: sizes, strings, conversions. Those of times are in times.ts. */
import { affix, matching, search, traversal } from '../cost/costs.ts';
import type { Run } from '../evaluation/run.ts';
import { codePointLength, isPlain, utf8 } from '../values/text.ts';
import { parseDuration, parseTimestamp, showDuration, showTimestamp } from '../values/time.ts';
import {
  Duration,
  Fault,
  List,
  MapValue,
  maxInt,
  maxUint,
  minInt,
  noSuchOverload,
  type Result,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/value.ts';
import type { Declaration } from './overload.ts';
import { compilePattern, countMatching } from './regex.ts';

function size([value]: readonly Value[], run: Run): Result {
  if (typeof value === 'string') {
    run.work(value.length / (isPlain(value) ? 32 : 4));
    return BigInt(codePointLength(value));
  }
  if (value instanceof Uint8Array || value instanceof List) return BigInt(value.length);
  return value instanceof MapValue ? BigInt(value.size) : noSuchOverload;
}

function strings(work: (text: string, other: string, run: Run) => Result): Declaration[1] {
  return ([text, other], run) =>
    typeof text === 'string' && typeof other === 'string' ? work(text, other, run) : noSuchOverload;
}

/** Counts the worst case of a search as work: the product of both lengths. */
const contains = strings((text, part, run) => {
  run.work((text.length * (1 + Math.min(part.length, 64))) / 256);
  return text.includes(part);
});

const matches = strings((text, pattern, run) => {
  const compiled = compilePattern(pattern);
  if (compiled instanceof Fault) return compiled;
  countMatching(compiled, text, run);
  return compiled.matches(text);
});

const intRange = new Fault('integer overflow');
const uintRange = new Fault('unsigned integer overflow');

function toInt([value]: readonly Value[]): Result {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value > maxInt ? intRange : value.value;
  if (typeof value === 'number') return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : intRange;
  if (value instanceof Timestamp) return floorSeconds(value.nanos);
  if (value instanceof Duration) return value.nanos;
  return typeof value === 'string' ? parseInteger(value, 'int', minInt, maxInt) : noSuchOverload;
}

function parseInteger(text: string, type: string, min: bigint, max: bigint): bigint | Fault {
  const parsed = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  return parsed === undefined || parsed < min || parsed > max ? notConverted(type) : parsed;
}

function notConverted(type: string): Fault {
  return new Fault(`type conversion error from 'string' to '${type}'`);
}

function floorSeconds(nanos: bigint): bigint {
  const second = 1_000_000_000n;
  return (nanos - (((nanos % second) + second) % second)) / second;
}

function toUint([value]: readonly Value[]): Result {
  if (value instanceof Uint) return value;
  if (typeof value === 'bigint') return value < 0n ? uintRange : new Uint(value);
  if (typeof value === 'number') return doubleToUint(value);
  if (typeof value !== 'string') return noSuchOverload;
  const parsed = /^\d/.test(value) ? parseInteger(value, 'uint', 0n, maxUint) : notConverted('uint');
  return parsed instanceof Fault ? parsed : new Uint(parsed);
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const special: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Infinity],
  ['infinity', Infinity],
]);

function doubleToUint(value: number): Result {
  return value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : uintRange;
}

function toDouble([value]: readonly Value[]): Result {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value !== 'string') return noSuchOverload;
  const named = special.get(value.replace(/^[+-]/, '').toLowerCase());
  if (named !== undefined) return value.startsWith('-') ? -named : named;
  return value.length <= 400 && number.test(value) ? Number(value) : notConverted('double');
}

/** Writes a double as Go's %g does: no exponent between 1e-4 and 1e21. */
export function showDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = Object.is(value, -0) ? '-0' : String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return text;
}

function toText([value]: readonly Value[]): Result {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return showDouble(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array)
    return utf8(value) ?? new Fault('invalid UTF-8 in bytes, cannot convert to string');
  if (value instanceof Timestamp) return showTimestamp(value);
  return value instanceof Duration ? showDuration(value) : noSuchOverload;
}

function toBytes([value]: readonly Value[]): Result {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? new TextEncoder().encode(value) : noSuchOverload;
}

const truths = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falsehoods = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

function toBool([value]: readonly Value[]): Result {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return noSuchOverload;
  if (truths.has(value)) return true;
  return falsehoods.has(value) ? false : notConverted('bool');
}

function toTimestamp([value]: readonly Value[]): Result {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'bigint') {
    const nanos = value * 1_000_000_000n;
    return nanos >= -62_135_596_800_000_000_000n && nanos < 253_402_300_800_000_000_000n
      ? new Timestamp(nanos)
      : new Fault('timestamp overflow');
  }
  if (typeof value !== 'string') return noSuchOverload;
  return parseTimestamp(value) ?? notConverted('timestamp');
}

function toDuration([value]: readonly Value[]): Result {
  if (value instanceof Duration) return value;
  if (typeof value === 'bigint') return new Duration(value);
  if (typeof value !== 'string') return noSuchOverload;
  return parseDuration(value) ?? notConverted('duration');
}

function conversion(name: string, from: readonly string[], apply: Declaration[1]): Declaration[] {
  return from.map((type) => {
    const reads = (name === 'string' && type === 'bytes') || (name === 'bytes' && type === 'string');
    return [`${name}(${type}): ${name}`, apply, reads ? traversal(0, { sized: true }) : undefined];
  });
}

export const standard: readonly Declaration[] = [
  ...['string', 'bytes', 'list<A>', 'map<A, B>'].flatMap((type): Declaration[] => [
    [`size(${type}): int`, size],
    [`${type}.size(): int`, size],
  ]),
  ['string.contains(string): bool', contains, search],
  ['string.startsWith(string): bool', strings((text, part) => text.startsWith(part)), affix],
  ['string.endsWith(string): bool', strings((text, part) => text.endsWith(part)), affix],
  ['string.matches(string): bool', matches, matching(false)],
  ['matches(string, string): bool', matches, matching(false)],
  ['dyn(A): dyn', ([value = null]) => value],
  ['type(A): type<A>', ([value = null]) => new TypeValue(typeNameOf(value))],
  ...conversion('int', ['int', 'double', 'duration', 'string', 'timestamp', 'uint'], toInt),
  ...conversion('uint', ['uint', 'double', 'int', 'string'], toUint),
  ...conversion('double', ['double', 'int', 'string', 'uint'], toDouble),
  ...conversion(
    'string',
    ['string', 'bool', 'bytes', 'double', 'duration', 'int', 'timestamp', 'uint'],
    toText,
  ),
  ...conversion('bytes', ['bytes', 'string'], toBytes),
  ...conversion('bool', ['bool', 'string'], toBool),
  ...conversion('timestamp', ['timestamp', 'int', 'string'], toTimestamp),
  ...conversion('duration', ['duration', 'int', 'string'], toDuration),
];
