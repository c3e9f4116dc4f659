/**
 * The order of keys in written YAML, which is that of kubectl: numbers within keys are compared by their
 * size, so that `web-2` comes before `web-10`, and letters come after other characters. Pure.
 */

const letter = /^\p{L}$/u;

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

const isLetter = (code: number): boolean =>
  code < 128
    ? (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    : letter.test(String.fromCodePoint(code));

/** Compares two keys for `sort`. */
export function compareKeys(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  let at = 0;
  while (at < shorter && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  if (at === shorter) return left.length - right.length;
  // The first different code point begins with its high surrogate.
  if (at > 0 && isLowSurrogate(left.charCodeAt(at))) at--;
  return compareAt(left, right, at);
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Compares two keys that differ from the code unit `at` on. */
function compareAt(left: string, right: string, at: number): number {
  const [own, other] = [left.codePointAt(at) ?? 0, right.codePointAt(at) ?? 0];
  const [ownLetter, otherLetter] = [isLetter(own), isLetter(other)];
  if (ownLetter && otherLetter) return own - other;
  if (ownLetter || otherLetter) return otherLetter ? -1 : 1;
  return compareNumbers(left, right, at) || own - other;
}

/** Compares the numbers that begin or go on at `at`; the result is 0 where neither key has one there. */
function compareNumbers(left: string, right: string, at: number): number {
  const hasZero = left[at] === '0' || right[at] === '0';
  // A zero that differs only counts if it follows a number other than 0, as in 10 and 1.
  const first = hasZero && followsNumber(left, at) ? 1n : 0n;
  const [ownEnd, otherEnd] = [digitsEnd(left, at), digitsEnd(right, at)];
  const own = numberFrom(first, left.slice(at, ownEnd));
  const other = numberFrom(first, right.slice(at, otherEnd));
  if (own !== other) return own < other ? -1 : 1;
  return ownEnd - otherEnd;
}

function followsNumber(key: string, at: number): boolean {
  for (let index = at - 1; index >= 0 && isDigit(key.charCodeAt(index)); index--)
    if (key[index] !== '0') return true;
  return false;
}

function digitsEnd(key: string, at: number): number {
  let end = at;
  while (end < key.length && isDigit(key.charCodeAt(end))) end++;
  return end;
}

/** Returns the number that the digits continue, in the 64 bits that kubectl has for it. */
const numberFrom = (first: bigint, digits: string): bigint =>
  digits === '' ? first : BigInt.asIntN(64, first * 10n ** BigInt(digits.length) + BigInt(digits));
