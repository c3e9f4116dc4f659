/** Turns the credentials of a request into a user. */
import type { Holder } from '../../base/certificate-names.ts';
import { authenticatedGroup, type UserInfo } from '../user.ts';

/** The subject of a client certificate; only certificates that verified against the client authority get here. */
export type PeerCertificate = Holder;

export interface RequestCredentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly peer: PeerCertificate | undefined;
}

/** Undefined without credentials and for wrong credentials: both are answered with 401. */
export type Authenticator = (
  credentials: RequestCredentials,
) => UserInfo | undefined | Promise<UserInfo | undefined>;

/** The first authenticator that knows the user wins; known users are in system:authenticated. */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return async (credentials) => {
    for (const authenticate of authenticators) {
      const user = await authenticate(credentials);
      if (user) return { ...user, groups: [...new Set([...user.groups, authenticatedGroup])] };
    }
    return undefined;
  };
}
