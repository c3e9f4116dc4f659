/**
 * The style in which a text is written as YAML, as kubectl chooses it: plain, in single or double quotes, or
 * as a literal block. Pure.
 */

type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

/** Marks that begin something else than a text, or a text that begins or ends a document. */
const indicatorFirst = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.)/;

/** A mark of a key, a list or a comment, which counts before or after a blank. */
const indicatorAtBlank = /^[?:-](?: |$)|:(?: |$)| #/;

/** A character that only double quotes can contain. */
const special = /[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

const spaceBeforeBreak = / [\n\u2028\u2029]/;
const breakBeforeSpace = /[\n\u2028\u2029] /;
const anyBreak = /[\r\n\u0085\u2028\u2029]/;

/** Returns true if the text has more than one line. */
export const hasBreak = (text: string): boolean => anyBreak.test(text);

export function styleOf(text: string): ScalarStyle {
  if (text.includes('\n'))
    return special.test(text) || text.endsWith(' ') || spaceBeforeBreak.test(text) ? 'double' : 'literal';
  if (isOtherType(text)) return 'double';
  const needsQuotes =
    text.startsWith(' ') ||
    text.endsWith(' ') ||
    indicatorFirst.test(text) ||
    indicatorAtBlank.test(text) ||
    anyBreak.test(text);
  if (special.test(text)) return 'double';
  if (!needsQuotes) return 'plain';
  return breakBeforeSpace.test(text) || spaceBeforeBreak.test(text) ? 'double' : 'single';
}

/** Words that a reader takes for a boolean, for nothing, for a number or for a merge. */
const word =
  /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF|~|null|Null|NULL|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF)|)$/;

const integer = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const signedBinary = /^0b[-+][01]+$/;
const decimal = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const sexagesimal = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;

/** Returns true for a text that a reader takes for another type if it is not in quotes. */
function isOtherType(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most texts begin with a character that no number and no such word begins with.
  if (text !== '' && !/^[-+.~\dyYnNtTfFoO]/.test(text[0] ?? '')) return false;
  if (word.test(text)) return true;
  if (first === 46) return decimal.test(text) && Number.isFinite(Number(text));
  if (!/^[-+\d]/.test(text)) return false;
  return isTimestamp(text) || sexagesimal.test(text) || isNumber(text.replaceAll('_', ''));
}

function isNumber(plain: string): boolean {
  if (signedBinary.test(plain)) return isOf64Bits(plain.slice(0, 2) + plain.slice(3), plain[2] ?? '');
  if (integer.test(plain)) {
    const sign = /^[-+]?/.exec(plain)?.[0] ?? '';
    if (isOf64Bits(plain.slice(sign.length), sign)) return true;
  }
  return decimal.test(plain) && Number.isFinite(Number(plain));
}

/** Returns true for digits, with the prefix of their base, that are a number of 64 bits. */
function isOf64Bits(digits: string, sign: string): boolean {
  // A number of more than 64 digits exceeds 64 bits in any base.
  if (digits.replace(/^0[a-zA-Z]?0*/, '').length > 64) return false;
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase());
  if (sign === '-') return size <= 2n ** 63n;
  return size < (sign === '+' ? 2n ** 63n : 2n ** 64n);
}

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;

/** Returns true for a date or a time that exists. */
function isTimestamp(text: string): boolean {
  const parts = timestamp
    .exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (!parts) return false;
  const [year = 0, month = 0, day = 0, ...rest] = parts;
  if (month < 1 || month > 12 || day < 1) return false;
  const maxima = [23, 59, 59, 24, 60, 23, 59, 59];
  if (rest.some((part, index) => part > (maxima[index] ?? 0))) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day;
}
