/**
 * A strict parser for DER (X.690 §10): every value has a single encoding, so that all parsers read the same
 * from the bytes. Other encodings are rejected: indefinite lengths, lengths longer than necessary, trailing
 * bytes.
 */

/** Thrown for bytes that are not DER, or do not have the expected structure. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}

export interface DerValue {
  /** The identifier octet: class, constructed or primitive, and number. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** Bytes of tag, length and content. */
  readonly whole: Uint8Array;
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns the tag of a field that is identified by its number, such as `[0]`. */
export const contextTag = (number: number, constructed: boolean) => (constructed ? 0xa0 : 0x80) | number;

/** Returns the single value in the bytes. Throws a one-line EncodingError. */
export function readDer(bytes: Uint8Array): DerValue {
  const [value, ...more] = readAll(bytes);
  if (!value || more.length > 0) throw new EncodingError('the encoding does not hold exactly one value');
  return value;
}

/** Returns the values inside a constructed value. Throws an EncodingError when it has another tag. */
export function childrenOf(value: DerValue, tag: number): DerValue[] {
  requireTag(value, tag);
  return readAll(value.content);
}

export function requireTag(value: DerValue | undefined, tag: number): DerValue {
  if (value?.tag !== tag)
    throw new EncodingError(`the encoding has ${nameOf(value)} where 0x${tag.toString(16)} is expected`);
  return value;
}

const nameOf = (value: DerValue | undefined) => (value ? `0x${value.tag.toString(16)}` : 'nothing');

function readAll(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readAt(bytes: Uint8Array, start: number): DerValue {
  const [tag = 0, first] = bytes.subarray(start, start + 2);
  // Numbers above 30 need more octets; certificates do not have them.
  if ((tag & 0x1f) === 0x1f) throw new EncodingError('the encoding has a tag of more than one octet');
  if (first === undefined) throw new EncodingError('the encoding is cut off');
  const octets = first < 0x80 ? 0 : first & 0x7f;
  const begin = start + 2 + octets;
  const length = octets === 0 && first < 0x80 ? first : longLength(bytes.subarray(start + 2, begin), octets);
  if (begin + length > bytes.length) throw new EncodingError('the encoding is cut off');
  return {
    tag,
    content: bytes.subarray(begin, begin + length),
    whole: bytes.subarray(start, begin + length),
  };
}

function longLength(octets: Uint8Array, count: number): number {
  if (count === 0 || count > 4)
    throw new EncodingError('the encoding has a length of zero octets or of too many octets');
  if (octets.length < count) throw new EncodingError('the encoding is cut off');
  const length = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  if (octets[0] === 0 || length < 0x80)
    throw new EncodingError('the encoding has a length that is not in its shortest form');
  return length;
}

/** Returns an object identifier, such as `2.5.4.10`. */
export function readObjectIdentifier(value: DerValue | undefined): string {
  const { content } = requireTag(value, tags.objectIdentifier);
  const last = content.at(-1);
  if (last === undefined || last >= 0x80)
    throw new EncodingError('the encoding has an object identifier that is cut off');
  const arcs: number[] = [];
  let [arc, fresh] = [0, true];
  for (const octet of content) {
    if ((fresh && octet === 0x80) || arc > 2 ** 40)
      throw new EncodingError('the encoding has an invalid object identifier');
    arc = arc * 128 + (octet & 0x7f);
    fresh = octet < 0x80;
    if (!fresh) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [joined = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(joined / 40));
  return [root, joined - root * 40, ...rest].join('.');
}
