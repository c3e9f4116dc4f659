/**
 * The credential of a session or a one-time code: the user's own token, which is checked again with each
 * request, or the user of a client certificate.
 */
import { isRecord } from '../../apimachinery/equality.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';

export type Credential = { readonly token: string } | { readonly user: UserInfo };

/** A credential and its end, in milliseconds since the epoch. */
export interface Lasting {
  readonly credential: Credential;
  readonly until: number;
}

export const writeLasting = ({ credential, until }: Lasting): string =>
  JSON.stringify({ ...credential, until });

/** Parses what `writeLasting` has written; undefined for anything else. */
export function readLasting(text: string): Lasting | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.until !== 'number') return undefined;
  const { token, user, until } = value;
  if (typeof token === 'string') return { credential: { token }, until };
  return isUser(user) ? { credential: { user }, until } : undefined;
}

const isUser = (value: unknown): value is UserInfo =>
  isRecord(value) && typeof value.name === 'string' && Array.isArray(value.groups);

/**
 * Returns the end of a token whose claims contain one, in milliseconds since the epoch; infinity for others.
 * The token must have been verified.
 */
export function endOfToken(token: string): number {
  const [, claims = '', signature] = token.split('.', 4);
  if (signature === undefined) return Number.POSITIVE_INFINITY;
  try {
    const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    if (isRecord(value) && typeof value.exp === 'number') return value.exp * 1000;
  } catch {
    // The token is not a JSON Web Token.
  }
  return Number.POSITIVE_INFINITY;
}
