/**
 * PKCS #10 requests for a key alone (RFC 2986): reading the parts that prove the possession of the key, and
 * writing a request without a subject. The content of a request is read by request-content.ts. Pure.
 */
import {
  childrenOf,
  contextTag,
  EncodingError,
  readDer,
  readObjectIdentifier,
  requireTag,
  tags,
} from './der.ts';

export interface KeyRequest {
  /** Bytes that the signature is for. */
  readonly signed: Uint8Array;
  /** SubjectPublicKeyInfo (DER). */
  readonly publicKey: Uint8Array;
  /** Object identifier of the signature's algorithm. */
  readonly algorithm: string;
  readonly signature: Uint8Array;
}

/** Returns the parts of a request (DER). Throws a one-line EncodingError. */
export function readKeyRequest(der: Uint8Array): KeyRequest {
  const [signed, algorithm, signature, ...more] = childrenOf(readDer(der), tags.sequence);
  const info = requireTag(signed, tags.sequence);
  const [version, subject, publicKey, attributes, ...others] = childrenOf(info, tags.sequence);
  requireTag(version, tags.integer);
  requireTag(subject, tags.sequence);
  if (attributes) requireTag(attributes, contextTag(0, true));
  if (more.length > 0 || others.length > 0) throw new EncodingError('the request has extra parts');
  const [unused, ...bits] = requireTag(signature, tags.bitString).content;
  if (unused !== 0) throw new EncodingError('the signature is not made of whole octets');
  const [type] = childrenOf(requireTag(algorithm, tags.sequence), tags.sequence);
  return {
    signed: info.whole,
    publicKey: requireTag(publicKey, tags.sequence).whole,
    algorithm: readObjectIdentifier(type),
    signature: Uint8Array.from(bits),
  };
}

/**
 * Returns the bytes to sign for a key (SubjectPublicKeyInfo, DER): a request without a subject and without
 * attributes.
 */
export const unsignedKeyRequest = (publicKey: Uint8Array): Uint8Array =>
  derOf(
    tags.sequence,
    derOf(tags.integer, Uint8Array.of(0)),
    derOf(tags.sequence),
    publicKey,
    derOf(contextTag(0, true)),
  );

/** Returns the request (DER). `algorithm` is the AlgorithmIdentifier (DER) of the signature. */
export const signedKeyRequest = (
  signed: Uint8Array,
  algorithm: Uint8Array,
  signature: Uint8Array,
): Uint8Array => derOf(tags.sequence, signed, algorithm, derOf(tags.bitString, Uint8Array.of(0), signature));

/** Returns the encoding of a value with the parts as its content. */
export function derOf(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag, ...lengthOctets(content.length)), content]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return [0x80 | octets.length, ...octets];
}
