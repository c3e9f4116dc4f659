/** Turns what a request shows of itself into a user. */
import type { Holder } from '../../base/certificate-names.ts';
import { authenticatedGroup, type UserInfo } from '../user.ts';

/** The subject of a client certificate; only certificates that verified against the client authority get here. */
export type PeerCertificate = Holder;

export interface RequestCredentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly peer: PeerCertificate | undefined;
}

/** Nothing shown gives undefined; something shown that is wrong gives undefined too: both are 401. */
export type Authenticator = (
  credentials: RequestCredentials,
) => UserInfo | undefined | Promise<UserInfo | undefined>;

/** The first that knows the caller wins, and everyone it knows is in system:authenticated. */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return async (credentials) => {
    for (const authenticate of authenticators) {
      const user = await authenticate(credentials);
      if (user) return { ...user, groups: [...new Set([...user.groups, authenticatedGroup])] };
    }
    return undefined;
  };
}
