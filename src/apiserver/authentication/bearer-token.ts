/**
 * Bearer tokens from a list. Tokens are compared by digest, so neither content nor length shows in the time
 * taken.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../request/user.ts';
import type { Authenticator } from './authenticator.ts';

export interface TokenEntry {
  readonly token: string;
  readonly user: UserInfo;
  /** Milliseconds since the epoch; absent means never. */
  readonly expires?: number;
}

const digest = (token: string) => createHash('sha256').update(token).digest();

/** Returns the token of an Authorization header of scheme Bearer. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +([^ ]+) *$/i)?.[1];
}

/**
 * Authenticates by a list of tokens. `entries` is called on every request, so an added or removed token takes
 * effect at once.
 */
export function bearerTokenAuthenticator(
  entries: () => Iterable<TokenEntry>,
  now: () => number,
): Authenticator {
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (!token) return undefined;
    const shown = digest(token);
    let found: UserInfo | undefined;
    for (const entry of entries()) {
      const alive = entry.expires === undefined || entry.expires > now();
      if (timingSafeEqual(shown, digest(entry.token)) && alive) found = entry.user;
    }
    return found;
  };
}
