/** X.509 client certificates: the common name is the user, the organizations are its groups. */
import type { Authenticator } from './authenticator.ts';

export const clientCertificateAuthenticator: Authenticator = ({ peer }) =>
  peer?.commonName ? { name: peer.commonName, groups: peer.organizations } : undefined;
