/**
 * The keys of service accounts' tokens as they are kept: which one signs, which still verify, and when there is a new one. A new key
 * is known everywhere before it signs, and an old one verifies until the last token that it signed is over.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isRecord } from '../../apimachinery/equality.ts';
import type { KeyPair } from './jws.ts';

/** Times are in milliseconds since the epoch. */
export interface TokenKey {
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKey: string;
  /** PKCS #8, PEM; gone once the key signs no more. */
  readonly privateKey?: string;
  readonly signsFrom: number;
  /** It has signed no token that is good after this; null when one of them never ends. */
  readonly signedUntil: number | null;
}

/** In the order in which they sign; never empty. */
export type KeySet = readonly TokenKey[];

const hour = 3_600_000;
const year = 365 * 24 * hour;

/**
 * How long a key is known before it signs: whoever reads the published keys may keep them for as long, and other masters
 * learn of it in a moment.
 */
export const announcedMs = hour;
/** A master whose clock is behind, or that has just taken the key, may sign for a while after the next key does. */
const handoverMs = hour;

/** How far ahead a limit is set, so that it is not written for each token. */
const aheadMs = year;

export const firstKey = (pair: KeyPair, now: number, ageMs: number): KeySet => [
  { ...pair, signsFrom: now, signedUntil: now + ageMs + aheadMs },
];

/** The key that signs; where the clock was set back, the first. */
export const signerAt = (keys: KeySet, now: number): TokenKey | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0];

export interface KeyPlan {
  /** The same value when nothing changes. */
  readonly keys: KeySet;
  /** When there is something to change next. */
  readonly next: number;
}

/** What is due: a key each `ageMs`, and old ones go. */
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

/** When the key signs no more, anywhere. */
const retirement = (keys: KeySet, index: number) =>
  (keys[index + 1]?.signsFrom ?? Number.POSITIVE_INFINITY) + handoverMs;

/** The keys once `signer` may sign a token that is good until then, or for ever (null); the same value when it may already. */
export function allowUntil(keys: KeySet, signer: TokenKey, until: number | null): KeySet {
  const { signedUntil } = signer;
  if (signedUntil === null || (until !== null && until <= signedUntil)) return keys;
  const raised = { ...signer, signedUntil: until === null ? null : until + aheadMs };
  return keys.map((key) => (key.publicKey === signer.publicKey ? raised : key));
}

export const writeKeys = (keys: KeySet): Buffer => Buffer.from(JSON.stringify({ keys }));

/** Undefined when the bytes are no such keys, or none of them can sign. */
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
