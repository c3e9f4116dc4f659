/** How long requests for certificates are kept (pkg/controller/certificates/cleaner). */
import type { CertificateSigningRequest } from '../../api/certificates/v1/certificate-signing-request.ts';
import { decisions } from '../../api/certificates/v1/conditions.ts';

const hour = 3600 * 1000;
/** Neither approved nor denied. */
const pendingAge = 24 * hour;
/** Decided: the requester has had the time to fetch the certificate. */
const decidedAge = hour;

/** When the request may go, in milliseconds since the epoch. */
export function deletableAt({ metadata, status }: CertificateSigningRequest): number {
  const created = Date.parse(metadata.creationTimestamp);
  const decided = (status?.conditions ?? [])
    .filter(({ type }) => decisions.some((decision) => decision === type))
    .map(({ lastUpdateTime = '' }) => Date.parse(lastUpdateTime) || created);
  return decided.length > 0 ? Math.min(...decided) + decidedAge : created + pendingAge;
}
