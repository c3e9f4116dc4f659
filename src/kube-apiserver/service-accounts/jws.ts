/**
 * Tokens as this cluster writes them: JSON Web Tokens in compact form, signed with ES256 (RFC 7515, 7518). Of what somebody else may
 * have written nothing is read before it has verified: a header is only compared with those of our own keys, byte for byte,
 * so it chooses neither an algorithm nor a key (docs/decisions/0037-service-account-tokens.md).
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { JsonObject } from '../../apimachinery/equality.ts';

const algorithm = 'ES256';
/** Of r and s together. */
const signatureBytes = 64;
/** As JSON Web Signatures have it: r and s, not DER. */
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

/** What a token says of its key: the digest of the public key, as upstream's servers name theirs. */
export const keyIdOf = (publicKey: KeyObject) =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');

const headerOf = (publicKey: KeyObject) => encode({ alg: algorithm, kid: keyIdOf(publicKey) });
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The token that says `claims`. */
export function signToken(privateKey: KeyObject, claims: object): string {
  const content = `${headerOf(createPublicKey(privateKey))}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding });
  return `${content}.${signature.toString('base64url')}`;
}

/** Resolves a token to what it says; undefined when none of the keys signed exactly this text. */
export type ReadToken = (token: string) => JsonObject | undefined;

export function tokenReader(publicKeys: readonly KeyObject[]): ReadToken {
  const byHeader = new Map(publicKeys.map((key) => [headerOf(key), key]));
  return (token) => {
    const [header = '', claims = '', signature = '', ...more] = token.split('.', 4);
    const key = byHeader.get(header);
    if (!key || more.length > 0) return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    // One signature has many spellings in base64; ours is the shortest.
    if (bytes.length !== signatureBytes || bytes.toString('base64url') !== signature) return undefined;
    if (!verify('sha256', Buffer.from(`${header}.${claims}`), { key, dsaEncoding }, bytes)) return undefined;
    return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  };
}

/** A public key as it stands in a JSON Web Key Set (RFC 7517). */
export function publicJwk(publicKey: KeyObject): JsonObject {
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: keyIdOf(publicKey), crv, alg: algorithm, x, y };
}

/** What tokens are signed with, as discovery names it. */
export const signingAlgorithms = [algorithm] as const;
