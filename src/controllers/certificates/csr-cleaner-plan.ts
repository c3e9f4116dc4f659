/** Retention of certificate requests (pkg/controller/certificates/cleaner). */
import type { CertificateSigningRequest } from '../../api/certificates/v1/certificate-signing-request.ts';
import { decisions } from '../../api/certificates/v1/conditions.ts';

const hour = 3600 * 1000;
/** Maximum age of a request that is neither approved nor denied. */
const pendingAge = 24 * hour;
/** Maximum age of a decided request, within which the requester can fetch the certificate. */
const decidedAge = hour;

/** Returns the time at which the request may be deleted, in milliseconds since the epoch. */
export function deletableAt({ metadata, status }: CertificateSigningRequest): number {
  const created = Date.parse(metadata.creationTimestamp);
  const decided = (status?.conditions ?? [])
    .filter(({ type }) => decisions.some((decision) => decision === type))
    .map(({ lastUpdateTime = '' }) => Date.parse(lastUpdateTime) || created);
  return decided.length > 0 ? Math.min(...decided) + decidedAge : created + pendingAge;
}
