/**
 * Encoding of an object in the store and in the watch cache: its JSON with `apiVersion`, `kind` and
 * `metadata` first. Stored bytes have no resourceVersion, since only the store determines it; `withRevision`
 * inserts it without parsing, which makes serving an object cheap.
 */
import { isRecord } from '../apimachinery/equality.ts';
import type { KubeObject } from '../apimachinery/meta.ts';

const metadataText = '"metadata":{';
const metadataMark = Buffer.from(metadataText);
const ownersMark = Buffer.from('"managedFields":[{');
const ownersEnd = Buffer.from('}],"');
const revisionMark = Buffer.from('"resourceVersion":"');
const quote = 0x22;
const comma = 0x2c;
const openingBrace = 0x7b;
const closingBrace = 0x7d;
const backslash = 0x5c;

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * Returns the bytes to store: canonical field order, without `metadata.resourceVersion`. managedFields are
 * the first field of the metadata, so that they can be skipped without parsing. `owners` is the JSON of the
 * managedFields for an object that does not contain them.
 */
export function encodeObject(object: KubeObject, owners?: string): Buffer {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { resourceVersion: _, managedFields, ...others } = metadata;
  const meta = managedFields === undefined ? others : { managedFields, ...others };
  const text = JSON.stringify({ apiVersion, kind, metadata: meta, ...rest });
  if (owners === undefined) return Buffer.from(text);
  const at = text.indexOf(metadataText) + metadataText.length;
  const separator = text[at] === '}' ? '' : ',';
  return Buffer.from(`${text.slice(0, at)}"managedFields":${owners}${separator}${text.slice(at)}`);
}

/**
 * Returns a new, mutable object with `metadata.resourceVersion` filled in, if there is a revision. Throws
 * SyntaxError if the bytes are no object.
 */
export function decodeObject(bytes: Uint8Array, revision?: number): KubeObject {
  return parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(), revision);
}

/** Returns the same as decodeObject, but without managedFields if that is cheaper. */
export function decodeUnowned(bytes: Buffer, revision: number): KubeObject {
  const span = ownersSpan(bytes);
  if (!span) return decodeObject(bytes, revision);
  const text = bytes.toString('utf8', 0, span.start) + bytes.toString('utf8', span.end);
  return parseObject(text, revision);
}

/** Returns the bytes without managedFields, unless they are not where this file writes them. */
export function unownedBytes(bytes: Buffer): Buffer {
  const span = ownersSpan(bytes);
  return span ? join([bytes.subarray(0, span.start), bytes.subarray(span.end)]) : bytes;
}

/**
 * Returns the span of the object's managedFields with the comma after them; undefined if they are not the
 * first field of the metadata.
 */
function ownersSpan(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  const { head, tail } = findSeam(bytes) ?? {};
  if (!head || !tail?.subarray(0, ownersMark.length).equals(ownersMark)) return undefined;
  const start = bytes.length - tail.length;
  for (let at = start; ; at++) {
    at = bytes.indexOf(ownersEnd, at);
    if (at < 0) return undefined;
    // FieldsV1 contains no list, but a string may end like one: then no field name follows.
    if (isLetter(bytes[at + ownersEnd.length])) return { start, end: at + ownersEnd.length - 1 };
  }
}

const isLetter = (byte: number | undefined) => byte !== undefined && byte >= 0x61 && byte <= 0x7a;

function parseObject(text: string, revision: number | undefined): KubeObject {
  const object: unknown = JSON.parse(text);
  if (!isRecord(object) || !isRecord(object.metadata))
    throw new SyntaxError('the stored value is not a Kubernetes object: metadata is missing');
  if (revision !== undefined) object.metadata.resourceVersion = String(revision);
  return object as unknown as KubeObject;
}

/** Place in `bytes` where a resourceVersion can be inserted, between the two parts. */
interface Seam {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** True if other metadata follows, so that a comma is needed. */
  readonly more: boolean;
}

function findSeam(bytes: Buffer): Seam | undefined {
  const at = bytes.indexOf(metadataMark);
  // This match ensures that the first "metadata" is the object's own, not one in a template or a string.
  if (!/^\{"apiVersion":"[^"\\]*","kind":"[^"\\]*",$/.test(bytes.toString('latin1', 0, at))) return undefined;
  let rest = at + metadataMark.length;
  const head = bytes.subarray(0, rest);
  if (bytes.subarray(rest, rest + revisionMark.length).equals(revisionMark)) {
    rest = bytes.indexOf(quote, rest + revisionMark.length) + 1;
    if (bytes[rest] === comma) rest++;
  }
  return { head, tail: bytes.subarray(rest), more: bytes[rest] !== closingBrace };
}

function canonicalSeam(bytes: Buffer): Seam {
  const seam = findSeam(bytes) ?? findSeam(encodeObject(decodeObject(bytes, 0)));
  if (!seam)
    throw new SyntaxError('the stored value is not a Kubernetes object: apiVersion or kind is missing');
  return seam;
}

/**
 * Returns the event's wire form `{"type":…,"object":…}\n` around `bytes` (with or without a resourceVersion
 * of its own) at `revision`. `object` is the part of `frame` that contains the object: both share one
 * allocation.
 */
export function frameObject(
  type: EventType,
  bytes: Buffer,
  revision: number,
): { readonly frame: Buffer; readonly object: Buffer } {
  const { head, tail, more } = canonicalSeam(bytes);
  const opening = Buffer.from(`{"type":"${type}","object":`);
  const version = Buffer.from(`"resourceVersion":"${revision}"${more ? ',' : ''}`);
  const closing = Buffer.from('}\n');
  const frame = join([opening, head, version, tail, closing]);
  return { frame, object: frame.subarray(opening.length, frame.length - closing.length) };
}

/** Returns `bytes` with its resourceVersion set to `revision`, in an allocation of its own. */
export function withRevision(bytes: Buffer, revision: number): Buffer {
  const { head, tail, more } = canonicalSeam(bytes);
  const version = Buffer.from(`"resourceVersion":"${revision}"${more ? ',' : ''}`);
  return join([head, version, tail]);
}

/** Returns the `metadata` of an object's bytes, in the form that this file writes: a JSON object. */
export function metadataBytes(bytes: Buffer): Buffer {
  const start = bytes.indexOf(metadataMark) + metadataMark.length - 1;
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openingBrace) depth++;
    else if (byte === closingBrace && --depth === 0) return bytes.subarray(start, at + 1);
  }
  throw new SyntaxError('the stored value is not a Kubernetes object: metadata has no end');
}

/** Returns the position of the closing quotation mark of the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at++;
  }
  return bytes.length;
}

/**
 * Concatenates like Buffer.concat, but never in Node's shared pool: one long-lived object would keep a whole
 * pool alive.
 */
export function join(parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}
