/** Prints values as Go's package fmt does: `%v` and the other verbs of printf. */
import { isRecord } from '../equality.ts';
import type { Value } from './values.ts';

/** Returns the text of a printed action: a missing value and null are `<no value>`. */
export const formatPlain = (value: Value): string =>
  value === undefined || value === null ? '<no value>' : formatValue(value);

/** Returns the text of the verb `%v`. */
export function formatValue(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'number') return formatFloat(value);
  if (Array.isArray(value)) return `[${value.map((item) => formatValue(item as Value)).join(' ')}]`;
  if (isRecord(value)) {
    const pairs = Object.keys(value)
      .sort()
      .map((key) => `${key}:${formatValue(value[key] as Value)}`);
    return `map[${pairs.join(' ')}]`;
  }
  return String(value);
}

/** Returns the shortest text of a number; from 1e+06 on, and below 1e-4, with an exponent of two digits. */
function formatFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 6) return withExponent(digits, power);
  return power < 0 ? value.toFixed(digits.replace(/^-?\d\.?/, '').length - power) : String(value);
}

const withExponent = (digits: string, power: number) =>
  `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;

const directive = /%([-+# 0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g;

/** Maximum width and precision of a verb. */
const maxWidth = 10_000;

/** Formats as printf does. */
export function formatWith(format: string, args: readonly Value[]): string {
  let used = 0;
  const text = format.replaceAll(
    directive,
    (_, marks: string, width?: string, precision?: string, verb = '') => {
      if (verb === '%') return '%';
      if (used >= args.length) return `%!${verb}(MISSING)`;
      const value = args[used++];
      const digits = precision === undefined ? undefined : Math.min(Number(precision), maxWidth);
      return padded(
        formatVerb(verb, value, marks, digits),
        marks,
        Math.min(Number(width ?? 0), maxWidth),
        value,
      );
    },
  );
  if (used >= args.length) return text;
  const extra = args
    .slice(used)
    .map((value) => `${typeName(value)}=${formatValue(value)}`.replace(/^<nil>=/, ''));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function padded(text: string, marks: string, width: number, value: Value): string {
  if (marks.includes('-')) return text.padEnd(width);
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (!marks.includes('0') || !isNumber) return text.padStart(width);
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}

function formatVerb(verb: string, value: Value, marks: string, precision: number | undefined): string {
  if (verb === 'v') return marks.includes('#') ? quoted(value) : formatValue(value);
  if (verb === 'T') return typeName(value);
  if (typeof value === 'string') return textVerb(verb, value, precision);
  const sign = marks.includes('+') ? '+' : '';
  if (typeof value === 'bigint') return wholeVerb(verb, value, sign);
  if (typeof value === 'number') return floatVerb(verb, value, precision ?? 6, sign);
  return typeof value === 'boolean' ? truthVerb(verb, value) : wrong(verb, value);
}

const truthVerb = (verb: string, value: boolean) => (verb === 't' ? String(value) : wrong(verb, value));

const quoted = (value: Value) => (typeof value === 'string' ? quote(value) : formatValue(value));

function textVerb(verb: string, value: string, precision: number | undefined): string {
  const cut = precision === undefined ? value : [...value].slice(0, precision).join('');
  if (verb === 's') return cut;
  if (verb === 'q') return quote(cut);
  if (verb === 'x' || verb === 'X') {
    const hex = Buffer.from(cut).toString('hex');
    return verb === 'X' ? hex.toUpperCase() : hex;
  }
  return wrong(verb, value);
}

const bases: Readonly<Record<string, number>> = { d: 10, x: 16, X: 16, o: 8, b: 2 };

function wholeVerb(verb: string, value: bigint, sign: string): string {
  if (verb === 'c') return String.fromCodePoint(Number(value));
  if (verb === 'q') return `'${String.fromCodePoint(Number(value))}'`;
  const base = bases[verb];
  if (base === undefined) return wrong(verb, value);
  const text = (value >= 0n ? sign : '') + value.toString(base);
  return verb === 'X' ? text.toUpperCase() : text;
}

function floatVerb(verb: string, value: number, precision: number, sign: string): string {
  const front = value >= 0 ? sign : '';
  const digits = Math.min(precision, 100);
  if (verb === 'f' || verb === 'F') return front + value.toFixed(digits);
  if (verb === 'g') return front + formatFloat(value);
  if (verb !== 'e') return wrong(verb, value);
  const [mantissa = '', power = '0'] = value.toExponential(digits).split('e');
  return front + withExponent(mantissa, Number(power));
}

const wrong = (verb: string, value: Value) =>
  value === undefined || value === null
    ? `%!${verb}(<nil>)`
    : `%!${verb}(${typeName(value)}=${formatValue(value)})`;

function typeName(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  return { string: 'string', number: 'float64', bigint: 'int', boolean: 'bool' }[typeof value as 'string'];
}

/** Returns a Go string literal. */
export const quote = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\x7f');
