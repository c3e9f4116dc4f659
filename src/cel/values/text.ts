/** Strings by code points: CEL counts and indexes these, JavaScript counts UTF-16 code units. */

const surrogate = /[\ud800-\udfff]/;

export function codePointLength(text: string): number {
  let count = text.length;
  if (!surrogate.test(text)) return count;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** Returns whether each code point is one unit; other texts take longer to measure. */
export function isPlain(text: string): boolean {
  return !surrogate.test(text);
}

/** Returns the offset in UTF-16 units of the code point; the text's end for the index after the last one. */
export function unitOffset(text: string, index: number): number {
  if (!surrogate.test(text)) return index;
  let at = 0;
  for (let left = index; left > 0 && at < text.length; left--) at += unitsAt(text, at);
  return at;
}

function unitsAt(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1;
}

/** Returns the length in UTF-8. */
export function byteLength(value: string | Uint8Array): number {
  if (typeof value !== 'string') return value.length;
  let count = value.length;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (unit > 0x7f) count++;
    if (unit > 0x7ff && (unit & 0xf800) !== 0xd800) count++;
  }
  return count;
}

/** Decodes UTF-8. Returns undefined for bytes that are none. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
