/**
 * Tokens of this cluster: JSON Web Tokens in compact form, signed with ES256 (RFC 7515, 7518). Nothing of an
 * unverified token is parsed: its header is only compared with those of this cluster's keys, byte for byte,
 * so it selects neither an algorithm nor an unknown key (docs/decisions/0037-service-account-tokens.md).
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { JsonObject } from '../../apimachinery/equality.ts';

const algorithm = 'ES256';
/** Length of r and s together. */
const signatureBytes = 64;
/** Encoding of JSON Web Signatures: r and s, not DER. */
const dsaEncoding = 'ieee-p1363';

export interface KeyPair {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKey: string;
}

export function newKeyPair(): KeyPair {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/** Returns the key id in a token: the digest of the public key, as in upstream's servers. */
export const keyIdOf = (publicKey: KeyObject) =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');

const headerOf = (publicKey: KeyObject) => encode({ alg: algorithm, kid: keyIdOf(publicKey) });
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a signed token with these claims. */
export function signToken(privateKey: KeyObject, claims: object): string {
  const content = `${headerOf(createPublicKey(privateKey))}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding });
  return `${content}.${signature.toString('base64url')}`;
}

/** Returns the claims of a token; undefined if none of the keys has signed exactly this text. */
export type ReadToken = (token: string) => JsonObject | undefined;

export function tokenReader(publicKeys: readonly KeyObject[]): ReadToken {
  const byHeader = new Map(publicKeys.map((key) => [headerOf(key), key]));
  return (token) => {
    const [header = '', claims = '', signature = '', ...more] = token.split('.', 4);
    const key = byHeader.get(header);
    if (!key || more.length > 0) return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    // A signature has many spellings in base64; only the shortest is accepted.
    if (bytes.length !== signatureBytes || bytes.toString('base64url') !== signature) return undefined;
    if (!verify('sha256', Buffer.from(`${header}.${claims}`), { key, dsaEncoding }, bytes)) return undefined;
    return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  };
}

/** Returns a public key as in a JSON Web Key Set (RFC 7517). */
export function publicJwk(publicKey: KeyObject): JsonObject {
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: keyIdOf(publicKey), crv, alg: algorithm, x, y };
}

/** Signing algorithms, as discovery names them. */
export const signingAlgorithms = [algorithm] as const;
