/** Decides which approved requests are signed, and for how long (pkg/controller/certificates/signer). */
import type { CertificateSigningRequest } from '../../api/certificates/v1/certificate-signing-request.ts';
import { hasCondition } from '../../api/certificates/v1/conditions.ts';
import type { CertificateRequestContent, SigningTerms } from '../../formats/certificate-request.ts';
import { contentChecks } from './csr-content-plan.ts';

const day = 24 * 3600 * 1000;
/** Default duration of kube-controller-manager (--cluster-signing-duration). */
const longest = 365 * day;
/** Milliseconds by which certificates are backdated, for machines whose clock is behind. */
const backdate = 5 * 60 * 1000;

export const awaitsSigning = (request: CertificateSigningRequest): boolean =>
  contentChecks.has(request.spec.signerName) &&
  hasCondition(request, 'Approved') &&
  !hasCondition(request, 'Denied') &&
  !hasCondition(request, 'Failed') &&
  !request.status?.certificate;

/** Returns the reason why the signer rejects an approved request, or undefined if it accepts the request. */
export function signerRefusal(
  { spec }: CertificateSigningRequest,
  content: CertificateRequestContent | undefined,
): string | undefined {
  if (!content) return 'the certificate request cannot be read';
  return contentChecks.get(spec.signerName)?.(content, spec.usages);
}

/** Returns the terms of the certificate. `now` is in milliseconds since the epoch. */
export function signingTerms({ spec }: CertificateSigningRequest, now: number): SigningTerms {
  const requested = (spec.expirationSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return { usages: spec.usages, notBefore: now - backdate, notAfter: now + Math.min(longest, requested) };
}
