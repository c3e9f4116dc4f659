/** Values of CEL's literals. */
import { maxInt, maxUint, minInt, Uint } from '../values/value.ts';

/** Returns undefined when the literal exceeds 64 bits. */
export function intOf(text: string, negative: boolean): bigint | undefined {
  const value = negative ? -BigInt(text) : BigInt(text);
  return value < minInt || value > maxInt ? undefined : value;
}

/** Returns undefined when the literal exceeds 64 bits. */
export function uintOf(text: string): Uint | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > maxUint ? undefined : new Uint(value);
}

const simple: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
  '`': 96,
  '?': 63,
};

const escapeSequence =
  /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))/y;

export class EscapeError extends Error {}

/** Returns the text of a string's literal, which includes its prefix and its quotes. */
export function stringOf(literal: string): string {
  const { body, raw } = bodyOf(literal);
  if (raw || !body.includes('\\')) return body;
  return unescapeAll(body, (code, isUnicode) => {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new EscapeError();
    return { text: String.fromCodePoint(code), isUnicode };
  });
}

/** Returns the bytes of a literal: escapes by number are bytes, everything else is encoded as UTF-8. */
export function bytesOf(literal: string): Uint8Array {
  const { body, raw } = bodyOf(literal);
  if (raw) return new TextEncoder().encode(body);
  const parts: number[] = [];
  walk(
    body,
    (text) => {
      for (const byte of new TextEncoder().encode(text)) parts.push(byte);
    },
    (code, isUnicode) => {
      if (isUnicode || code > 0xff) throw new EscapeError();
      parts.push(code);
    },
  );
  return Uint8Array.from(parts);
}

function bodyOf(literal: string): { body: string; raw: boolean } {
  const prefix = /^[a-zA-Z]*/.exec(literal)?.[0] ?? '';
  const quoted = literal.slice(prefix.length);
  const width = quoted.length >= 6 && /^("""|''')/.test(quoted) ? 3 : 1;
  const body = quoted.slice(width, -width).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  return { body, raw: /[rR]/.test(prefix) };
}

function unescapeAll(body: string, decode: (code: number, isUnicode: boolean) => { text: string }): string {
  let text = '';
  walk(
    body,
    (plain) => {
      text += plain;
    },
    (code, isUnicode) => {
      text += decode(code, isUnicode).text;
    },
  );
  return text;
}

function walk(
  body: string,
  plain: (text: string) => void,
  coded: (code: number, isUnicode: boolean) => void,
) {
  let at = 0;
  for (let next = body.indexOf('\\'); next !== -1; next = body.indexOf('\\', at)) {
    if (next > at) plain(body.slice(at, next));
    escapeSequence.lastIndex = next;
    const [all = '', hex, short, long, octal, letter] = escapeSequence.exec(body) ?? [];
    const unicode = short ?? long;
    coded(codeOf(hex, unicode, octal, letter), unicode !== undefined);
    at = next + all.length;
  }
  if (at < body.length) plain(body.slice(at));
}

function codeOf(hex?: string, unicode?: string, octal?: string, letter?: string): number {
  const number = hex ?? unicode;
  if (number !== undefined) return Number.parseInt(number, 16);
  if (octal !== undefined) return Number.parseInt(octal, 8);
  const code = letter === undefined ? undefined : simple[letter];
  if (code === undefined) throw new EscapeError();
  return code;
}
