/**
 * Quantities such as `100m`, `1.5Gi` and `2e3` (k8s.io/apimachinery api/resource). A value is a whole number
 * of nano-units: Kubernetes has no finer resolution, and rounds away from zero.
 */
import { invalidCause } from './field-error.ts';
import type { StatusCause } from './status-error.ts';

/** Suffixes that the text used, which the canonical text uses, too. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Types that the parser accepts for a quantity: text, or a number from JSON and YAML. */
export type QuantityText = string | number;

const quantityError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * Returns the reason why the text is not a quantity: upstream's words, followed by a suggestion for texts
 * like `128mb`.
 */
export function quantityFault(text: QuantityText): string {
  const meant = meantQuantities(String(text));
  return meant.length === 0 ? quantityError : `${quantityError}; did you mean ${meant.join(' or ')}?`;
}

/**
 * Returns suggestions for sizes and CPUs as other programs write them: 128mb, 1 GB, 64KiB, 10B; 2 cores, 1.5
 * vCPUs, 500 millicores.
 */
function meantQuantities(text: string): string[] {
  const cpus = meantCpus(text);
  return cpus === undefined ? meantSizes(text) : [cpus];
}

function meantCpus(text: string): string | undefined {
  const [, count, milli] =
    /^\s*(\d{1,18}(?:\.\d{1,9})?)\s*(?:(m|milli)[ -]?)?(?:v?cpus?|v?cores?)\s*$/i.exec(text) ?? [];
  return milli ? `${count}m` : count;
}

function meantSizes(text: string): string[] {
  const [, amount, letter, binary] =
    /^\s*([+-]?\d{1,18}(?:\.\d{1,9})?)\s*([kmgtpe]?)(i?)b?\s*$/i.exec(text) ?? [];
  if (amount === undefined || letter === undefined) return [];
  if (letter === '') return binary ? [] : [amount];
  const unit = letter.toUpperCase();
  const [si, power] = [`${amount}${unit === 'K' ? 'k' : unit}`, `${amount}${unit}i`];
  return binary ? [power] : [power, si];
}

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const nanoPerUnit = 1_000_000_000n;
const nanoPerMilli = 1_000_000n;
const maxUnits = 2n ** 63n - 1n;
const maxNano = maxUnits * nanoPerUnit;
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const shape = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE]?))$/;

/** The most frequent form, which a JavaScript number represents exactly. */
const plain = /^\d{1,15}$/;

/** Maximum length: the time for converting digits grows with the square of their number. */
const longest = 100;

/** Returns undefined when the text is not a quantity. */
export function tryParseQuantity(text: QuantityText): Quantity | undefined {
  const trimmed = String(text).trim();
  if (trimmed.length > longest) return undefined;
  if (plain.test(trimmed)) return { nano: BigInt(trimmed) * nanoPerUnit, format: 'DecimalSI' };
  const found = shape.exec(trimmed);
  if (!found) return undefined;
  const [, sign, digits = '', exponent, binary, decimal = ''] = found;
  const [whole = '', fraction = ''] = digits.split('.');
  const mantissa = BigInt(`${whole}${fraction}` || '0');
  const tens = scaleOf(exponent, binary, decimal) - fraction.length + 9;
  return { nano: signed(sign, nanoOf(mantissa, tens, binary)), format: formatOf(exponent, binary) };
}

/** Returns the mantissa times 10^tens and times the binary suffix, at most `maxNano`. */
function nanoOf(mantissa: bigint, tens: number, binary: string | undefined): bigint {
  if (mantissa === 0n) return 0n;
  // Beyond these bounds every value is capped or rounds to one nano-unit; huge powers are not computed.
  if (tens > 30) return maxNano;
  if (tens < -longest) return 1n;
  const factor = binary ? 1024n ** BigInt(binarySuffixes.indexOf(binary)) : 1n;
  const nano = scale(mantissa * factor, tens);
  return nano > maxNano ? maxNano : nano;
}

/** Parses a quantity; throws QuantityError. */
export function parseQuantity(text: QuantityText): Quantity {
  const quantity = tryParseQuantity(text);
  if (!quantity) throw new QuantityError(`${JSON.stringify(text)} is not a quantity: ${quantityFault(text)}`);
  return quantity;
}

/** Returns the canonical text: the largest suffix that leaves no fraction. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const units = nano / nanoPerUnit;
  const whole = nano % nanoPerUnit === 0n;
  const small = nano < 1024n * nanoPerUnit && nano > -1024n * nanoPerUnit;
  if (format === 'BinarySI' && whole && !small) {
    const [value, power] = divideOut(units, 1024n, binarySuffixes.length - 1);
    return `${value}${binarySuffixes[power]}`;
  }
  const [value, power] = divideOut(nano, 1000n, decimalSuffixes.length - 1);
  if (format === 'DecimalExponent') return power === 3 ? `${value}` : `${value}e${power * 3 - 9}`;
  return `${value}${decimalSuffixes[power]}`;
}

/** Formats bytes: 10485760 → `10Mi`. */
export const byteQuantity = (bytes: number): string =>
  formatQuantity({ nano: BigInt(bytes) * nanoPerUnit, format: 'BinarySI' });

/** Returns the canonical text: `1024Mi` → `1Gi`, `0.5` → `500m`. Throws QuantityError. */
export function canonicalQuantity(text: QuantityText): string {
  if (typeof text === 'string' && isCanonical.test(text)) return text;
  return formatQuantity(parseQuantity(text));
}

/** The most common canonical texts: a small number, with or without a suffix. */
const isCanonical = /^[1-9]\d{0,2}(?:[mkMGTP]|[KMGTP]i)?$/;

/**
 * Returns the canonical text, rounded up to a thousandth. A text that is not a quantity is returned
 * unchanged.
 */
export function roundUpQuantity(text: string): string {
  const quantity = tryParseQuantity(text);
  if (!quantity || quantity.nano % nanoPerMilli === 0n) return text;
  return formatQuantity({ ...quantity, nano: ceilDivide(quantity.nano, nanoPerMilli) * nanoPerMilli });
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

/** Returns the sum in the format of the first operand that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity =>
  addQuantities(a, { nano: -b.nano, format: b.format });

export const zeroQuantity: Quantity = { nano: 0n, format: 'DecimalSI' };

export const roundUpToUnits = (quantity: Quantity): Quantity => ({
  ...quantity,
  nano: ceilDivide(quantity.nano, nanoPerUnit) * nanoPerUnit,
});

/** Returns the value in whole units (bytes, CPUs), rounded up. Values beyond 2^53 lose their last digits. */
export const quantityValue = (quantity: Quantity) => Number(ceilDivide(quantity.nano, nanoPerUnit));

/** Returns the value in thousandths (milli-CPUs), rounded up. */
export const quantityMilliValue = (quantity: Quantity) => Number(ceilDivide(quantity.nano, nanoPerMilli));

/**
 * Returns one Invalid cause when the text is not a quantity and, unless `negative` is allowed, for values
 * below zero.
 */
export function validateQuantity(
  path: string,
  text: QuantityText,
  allow?: { negative: boolean },
): StatusCause[] {
  const quantity = tryParseQuantity(text);
  if (!quantity) return [invalidCause(path, text, quantityFault(text))];
  if (quantity.nano < 0n && !allow?.negative)
    return [invalidCause(path, text, 'must be greater than or equal to 0')];
  return [];
}

function formatOf(exponent: string | undefined, binary: string | undefined): QuantityFormat {
  if (exponent) return 'DecimalExponent';
  return binary ? 'BinarySI' : 'DecimalSI';
}

function scaleOf(exponent: string | undefined, binary: string | undefined, decimal: string): number {
  if (exponent) return Number(exponent.slice(1));
  return binary ? 0 : (decimalSuffixes.indexOf(decimal) - 3) * 3;
}

const signed = (sign: string | undefined, value: bigint) => (sign === '-' ? -value : value);

/** Returns value × 10^tens, rounded up. */
function scale(value: bigint, tens: number): bigint {
  return tens >= 0 ? value * 10n ** BigInt(tens) : ceilDivide(value, 10n ** BigInt(-tens));
}

function ceilDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by > 0n ? quotient + 1n : quotient;
}

function divideOut(value: bigint, by: bigint, most: number): [bigint, number] {
  let rest = value;
  let power = 0;
  while (power < most && rest % by === 0n) {
    rest /= by;
    power++;
  }
  return [rest, power];
}

/**
 * Returns true if both have the same names with equal values, whatever their notation; a text that is not a
 * quantity equals only itself.
 */
export function sameAmounts(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([name, text]) => {
      const other = b[name];
      if (other === undefined || text === other) return text === other;
      const [one, two] = [tryParseQuantity(text), tryParseQuantity(other)];
      return one !== undefined && two !== undefined && compareQuantities(one, two) === 0;
    })
  );
}
