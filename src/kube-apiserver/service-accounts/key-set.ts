/**
 * The stored keys of service account tokens: the one that signs, those that still verify, and the time of the
 * next one. A new key is published before it signs, and an old one verifies until the last token that it
 * signed has expired.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isRecord } from '../../apimachinery/equality.ts';
import type { KeyPair } from './jws.ts';

/** Times are in milliseconds since the epoch. */
export interface TokenKey {
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKey: string;
  /** PKCS #8, PEM; removed once the key does not sign any more. */
  readonly privateKey?: string;
  readonly signsFrom: number;
  /** No token that the key has signed is valid after this time; null if one of them never expires. */
  readonly signedUntil: number | null;
}

/** Keys in the order in which they sign; never empty. */
export type KeySet = readonly TokenKey[];

const hour = 3_600_000;
const year = 365 * 24 * hour;

/**
 * Time for which a key is published before it signs: readers of the published keys may cache them for as
 * long, and other masters receive it within a moment.
 */
export const announcedMs = hour;
/**
 * Time for which a key may sign after the next key does, on a master whose clock is behind, or that has just
 * read the key.
 */
const handoverMs = hour;

/** Time by which `signedUntil` is set ahead, so that it is not written for each token. */
const aheadMs = year;

export const firstKey = (pair: KeyPair, now: number, ageMs: number): KeySet => [
  { ...pair, signsFrom: now, signedUntil: now + ageMs + aheadMs },
];

/** Returns the key that signs at `now`; the first one if the clock was set back. */
export const signerAt = (keys: KeySet, now: number): TokenKey | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0];

export interface KeyPlan {
  /** The same array if nothing changes. */
  readonly keys: KeySet;
  /** Time of the next change. */
  readonly next: number;
}

/** Returns the changes that are due: a new key each `ageMs`, and the removal of old keys. */
export function planKeys(keys: KeySet, now: number, ageMs: number, make: () => KeyPair): KeyPlan {
  const newest = keys.at(-1);
  const due = newest ? newest.signsFrom + ageMs - announcedMs : now;
  const signsFrom = now + announcedMs;
  const added = { signsFrom, signedUntil: signsFrom + ageMs + aheadMs };
  const all = now < due ? keys : [...keys, { ...make(), ...added }];
  const kept = all.flatMap((key, index): readonly TokenKey[] => {
    const retires = retirement(all, index);
    if (now < retires) return [key];
    if (key.signedUntil !== null && key.signedUntil + handoverMs <= now) return [];
    const { privateKey, ...rest } = key;
    return [privateKey === undefined ? key : rest];
  });
  const isSame = kept.length === keys.length && kept.every((key, index) => key === keys[index]);
  const times = kept.flatMap((key, index) => [
    retirement(kept, index),
    key.signedUntil === null ? Number.POSITIVE_INFINITY : key.signedUntil + handoverMs,
  ]);
  const renewal = (kept.at(-1)?.signsFrom ?? now) + ageMs - announcedMs;
  return { keys: isSame ? keys : kept, next: Math.min(renewal, ...times.filter((time) => time > now)) };
}

/** Returns the time after which no master signs with the key any more. */
const retirement = (keys: KeySet, index: number) =>
  (keys[index + 1]?.signsFrom ?? Number.POSITIVE_INFINITY) + handoverMs;

/**
 * Returns the keys after allowing `signer` to sign a token that expires at `until`, or never (null); the same
 * array if it is allowed already.
 */
export function allowUntil(keys: KeySet, signer: TokenKey, until: number | null): KeySet {
  const { signedUntil } = signer;
  if (signedUntil === null || (until !== null && until <= signedUntil)) return keys;
  const raised = { ...signer, signedUntil: until === null ? null : until + aheadMs };
  return keys.map((key) => (key.publicKey === signer.publicKey ? raised : key));
}

export const writeKeys = (keys: KeySet): Buffer => Buffer.from(JSON.stringify({ keys }));

/** Parses stored keys; undefined for invalid bytes, or if none of the keys can sign. */
export function readKeys(bytes: Buffer): KeySet | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const keys = isRecord(value) && Array.isArray(value.keys) ? value.keys : [];
  return keys.every(isTokenKey) && keys.at(-1)?.privateKey !== undefined ? keys : undefined;
}

function isTokenKey(value: unknown): value is TokenKey {
  if (!isRecord(value)) return false;
  const { publicKey, privateKey, signsFrom, signedUntil } = value;
  if (typeof publicKey !== 'string' || typeof signsFrom !== 'number') return false;
  if (signedUntil !== null && typeof signedUntil !== 'number') return false;
  try {
    const known = createPublicKey(publicKey);
    if (known.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false;
    if (privateKey === undefined) return true;
    return typeof privateKey === 'string' && createPublicKey(createPrivateKey(privateKey)).equals(known);
  } catch {
    return false;
  }
}
