/**
 * Nodes whose client certificate has expired, because they were off when it was due for renewal. Such a node
 * is a user who may request the node's next certificate, and nothing else; the approver decides whether the
 * node gets it (controllers/certificates/csr-approving-plan.ts).
 */
import { expiredCertificateKey } from '../../api/certificates/v1/conditions.ts';
import type { Authenticator } from '../../apiserver/authentication/authenticator.ts';
import { expiredNodesGroup, expiredNodeUserName, nodeNameOf } from '../../apiserver/request/user.ts';

/**
 * Milliseconds for which a certificate is accepted after it has expired: as long as it is valid by default.
 */
const acceptedMs = 365 * 24 * 3600 * 1000;

export const expiredNodeAuthenticator =
  (now: () => number): Authenticator =>
  ({ expired }) => {
    if (!expired) return undefined;
    const { commonName, organizations, fingerprint, notAfter, authorityEnds } = expired;
    // A certificate of several groups is not one that the signer of node certificates has issued.
    const node = organizations.length === 1 && nodeNameOf({ name: commonName, groups: organizations });
    const since = now() - notAfter;
    if (!node || since < 0 || since > acceptedMs || authorityEnds <= now()) return undefined;
    return {
      name: expiredNodeUserName(node),
      groups: [expiredNodesGroup],
      extra: { [expiredCertificateKey]: [fingerprint] },
    };
  };
