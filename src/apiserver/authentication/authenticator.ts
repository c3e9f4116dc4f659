/** Turns the credentials of a request into a user. */
import type { Holder } from '../../base/certificate-names.ts';
import { authenticatedGroup, type UserInfo } from '../user.ts';

/** The subject of a client certificate; only certificates that verified against the client authority get here. */
export type PeerCertificate = Holder;

export interface RequestCredentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly peer: PeerCertificate | undefined;
  /** For whom the credentials are to be good; absent means this server. */
  readonly audiences?: readonly string[];
}

export interface KnownUser extends UserInfo {
  /** For which of those the credentials are good; absent for credentials that are not for anybody in particular. */
  readonly audiences?: readonly string[];
}

/** Undefined without credentials and for wrong credentials: both are answered with 401. */
export type Authenticator = (
  credentials: RequestCredentials,
) => KnownUser | undefined | Promise<KnownUser | undefined>;

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

/** Credentials that say nothing of an audience are for this server, whose own names `audiences` are. */
export function forOwnAudiences(authenticate: Authenticator, audiences: readonly string[]): Authenticator {
  return async (credentials) => {
    const { audiences: asked = audiences } = credentials;
    const user = await authenticate(credentials);
    if (!user || user.audiences) return user;
    const own = audiences.filter((one) => asked.includes(one));
    return own.length > 0 ? { ...user, audiences: own } : undefined;
  };
}
