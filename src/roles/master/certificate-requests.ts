/**
 * The cluster's authority in the form that the API server and the controllers use: it reads and signs
 * requests, and has a certificate.
 */
import type { Current } from '../../base/current.ts';
import type { ReadCertificateRequest, SignCertificateRequest } from '../../formats/certificate-request.ts';
import type { Authorities } from '../../pki/authority-rotation.ts';

export interface CertificateRequests {
  readonly read: ReadCertificateRequest;
  readonly sign: SignCertificateRequest;
  /** Certificates of the trusted authorities, in PEM. */
  readonly authority: Current<string>;
}

/** The library is loaded with the first request, because most starts do not need it. */
export function certificateRequests(
  authorities: Current<Authorities>,
  trusted: Current<string>,
): CertificateRequests {
  const load = () => import('../../pki/certificate-requests.ts');
  return {
    read: async (pem) => (await load()).readCertificateRequest(pem),
    sign: async (pem, terms) => (await load()).signCertificateRequest(authorities.value.signer, pem, terms),
    authority: trusted,
  };
}
