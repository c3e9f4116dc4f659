/** `"%s has %d".format([a, b])` (cel-go ext/formatting.go). */
import type { Run } from '../evaluation/run.ts';
import { showDouble } from '../functions/standard.ts';
import { utf8 } from '../values/text.ts';
import { showDuration, showTimestamp } from '../values/time.ts';
import {
  Duration,
  Fault,
  List,
  MapValue,
  noSuchOverload,
  type Result,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/value.ts';

const clause = /%(?:%|(?:\.(\d{1,3}))?([a-zA-Z]))?/g;

/** Default number of digits of a fraction. */
const defaultPrecision = 6;

class FormatError extends Error {}

export function formatted([template, list]: readonly Value[], run: Run): Result {
  if (typeof template !== 'string' || !(list instanceof List)) return noSuchOverload;
  run.work(template.length / 2);
  let used = 0;
  const next = (): Value => {
    if (used >= list.length) throw new FormatError(`index ${used} out of range`);
    return list.at(used++);
  };
  try {
    const text = template.replace(clause, (all, precision: string | undefined, verb: string | undefined) => {
      if (all === '%%') return '%';
      if (verb === undefined) throw new FormatError('unexpected end of string');
      return write(verb, Number(precision ?? defaultPrecision), next(), run);
    });
    return text;
  } catch (error) {
    if (error instanceof FormatError) return new Fault(error.message);
    throw error;
  }
}

function write(verb: string, precision: number, value: Value, run: Run): string {
  switch (verb) {
    case 's':
      return shown(value, run);
    case 'd':
      return decimal(value);
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value, precision);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : inBase(value, 2, 'binary');
    case 'o':
      return inBase(value, 8, 'octal');
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new FormatError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function wholeOf(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return value instanceof Uint ? value.value : undefined;
}

function decimal(value: Value): string {
  const whole = wholeOf(value);
  if (whole !== undefined) return String(whole);
  throw new FormatError(
    `error during formatting: decimal clause can only be used on integers, was given ${typeNameOf(value)}`,
  );
}

function inBase(value: Value, base: number, name: string): string {
  const whole = wholeOf(value);
  if (whole !== undefined) return whole.toString(base);
  const allowed = name === 'binary' ? 'integers and bools' : 'integers';
  throw new FormatError(
    `error during formatting: ${name} clause can only be used on ${allowed}, was given ${typeNameOf(value)}`,
  );
}

function hex(value: Value): string {
  const whole = wholeOf(value);
  if (whole !== undefined) return whole.toString(16);
  if (typeof value === 'string') return new TextEncoder().encode(value).toHex();
  if (value instanceof Uint8Array) return value.toHex();
  const allowed = 'integers, byte buffers, and strings';
  throw new FormatError(
    `error during formatting: only ${allowed} can be formatted as hex, was given ${typeNameOf(value)}`,
  );
}

const words: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function doubleOf(value: Value, name: string): number {
  if (typeof value === 'number') return value;
  const word = typeof value === 'string' ? words.get(value) : undefined;
  if (word !== undefined) return word;
  throw new FormatError(
    `error during formatting: ${name} clause can only be used on doubles, was given ${typeNameOf(value)}`,
  );
}

function unusual(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '∞' : '-∞';
}

function fixed(value: Value, precision: number): string {
  const double = doubleOf(value, 'fixed-point');
  return unusual(double) ?? fixedFormat(Math.min(precision, 100)).format(double);
}

const fixedFormats = new Map<number, Intl.NumberFormat>();

/**
 * Returns the format with this number of digits of the fraction. Ties are rounded to the even digit, as Go
 * does.
 */
function fixedFormat(digits: number): Intl.NumberFormat {
  const known = fixedFormats.get(digits);
  if (known) return known;
  const made = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    roundingMode: 'halfEven',
  });
  fixedFormats.set(digits, made);
  return made;
}

function scientific(value: Value, precision: number): string {
  const double = doubleOf(value, 'scientific');
  const text = unusual(double);
  if (text !== undefined) return text;
  const [mantissa = '', exponent = '+0'] = double.toExponential(Math.min(precision, 100)).split('e');
  return `${mantissa}\u202f×\u202f10${superscript(exponent)}`;
}

const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function superscript(exponent: string): string {
  const size = exponent.slice(1).padStart(2, '0');
  const raised = Array.from(size, (digit) => digits[Number(digit)]).join('');
  return `${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

/** Writes any value: `%s`. */
function shown(value: Value, run: Run): string {
  run.work(4);
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return typeof value === 'number' ? showDouble(value) : shownObject(value, run);
}

function shownObject(value: Exclude<Value, string | null | boolean | bigint | number>, run: Run): string {
  if (value instanceof List) {
    const items = Array.from({ length: value.length }, (_, at) => inside(value.at(at), run));
    return `[${items.join(', ')}]`;
  }
  if (value instanceof MapValue) return shownMap(value, run);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return utf8(value) ?? new TextDecoder().decode(value);
  return shownOpaque(value);
}

function shownOpaque(value: Value): string {
  if (value instanceof Timestamp) return showTimestamp(value);
  if (value instanceof Duration) return showDuration(value);
  if (value instanceof TypeValue) return value.name;
  const allowed = 'strings, bools, integers, doubles, bytes, timestamps, durations, types, lists, and maps';
  throw new FormatError(
    `error during formatting: string clause can only be used on ${allowed}, was given ${typeNameOf(value)}`,
  );
}

function shownMap(map: MapValue, run: Run): string {
  const entries: (readonly [key: string, value: string])[] = [];
  for (const key of map.keys()) entries.push([inside(key, run), inside(map.get(key) ?? null, run)]);
  entries.sort(([left], [right]) => (left < right ? -1 : Number(left > right)));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** Writes an element of a list or a map: strings are quoted, doubles have six digits. */
function inside(value: Value, run: Run): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number')
    return unusual(value) === undefined ? value.toFixed(6) : `"${showDouble(value)}"`;
  if (value instanceof Uint8Array) return `b${JSON.stringify(shown(value, run))}`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(shown(value, run))})`;
  if (value instanceof Duration) return `duration(${JSON.stringify(shown(value, run))})`;
  return shown(value, run);
}
