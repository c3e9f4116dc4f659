/** Authentication: turns the credentials of a request into a user. */
import type { Holder } from '../../formats/certificate-names.ts';
import { authenticatedGroup, expiredNodesGroup, type UserInfo } from '../request/user.ts';
import type { SessionCredentials } from './browser-session.ts';

/** Subject of a client certificate that was verified against the client authority. */
export interface PeerCertificate extends Holder {
  /** End of the certificate in milliseconds since the epoch. */
  readonly notAfter?: number;
}

/** A client certificate that was verified, except that it has expired. */
export interface ExpiredCertificate extends Holder {
  /** SHA-256 of the certificate, in hexadecimal digits and colons. */
  readonly fingerprint: string;
  /** End of the certificate and of its authority, in milliseconds since the epoch. */
  readonly notAfter: number;
  readonly authorityEnds: number;
}

export interface RequestCredentials {
  /** The Authorization header. */
  readonly authorization: string | undefined;
  readonly peer: PeerCertificate | undefined;
  readonly expired?: ExpiredCertificate | undefined;
  /** Session of a browser. Credentials with a session have no others. */
  readonly session?: SessionCredentials;
  /** Audiences that the credentials must be valid for; absent means this server. */
  readonly audiences?: readonly string[];
}

export interface KnownUser extends UserInfo {
  /** Requested audiences that the credentials are valid for; absent for credentials without audiences. */
  readonly audiences?: readonly string[];
}

/** Returns undefined for absent and for wrong credentials: both are answered with 401. */
export type Authenticator = (
  credentials: RequestCredentials,
) => KnownUser | undefined | Promise<KnownUser | undefined>;

/**
 * Returns the user of the first authenticator that recognizes the credentials, as a member of
 * system:authenticated. A node with an expired certificate gets none of the rights of that group.
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return async (credentials) => {
    for (const authenticate of authenticators) {
      const user = await authenticate(credentials);
      if (user?.groups.includes(expiredNodesGroup)) return user;
      if (user) return { ...user, groups: [...new Set([...user.groups, authenticatedGroup])] };
    }
    return undefined;
  };
}

/** Treats credentials without audiences as valid for this server, whose own audiences are `audiences`. */
export function forOwnAudiences(authenticate: Authenticator, audiences: readonly string[]): Authenticator {
  return async (credentials) => {
    const { audiences: asked = audiences } = credentials;
    const user = await authenticate(credentials);
    if (!user || user.audiences) return user;
    const own = audiences.filter((one) => asked.includes(one));
    return own.length > 0 ? { ...user, audiences: own } : undefined;
  };
}
