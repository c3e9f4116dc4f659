/**
 * The cluster's authority in the form that the API server and the controllers use: it reads and signs
 * requests, and has a certificate.
 */
import type { ReadCertificateRequest, SignCertificateRequest } from '../../formats/certificate-request.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';

export interface CertificateRequests {
  readonly read: ReadCertificateRequest;
  readonly sign: SignCertificateRequest;
  /** The authority's own certificate, in PEM. */
  readonly authority: string;
}

/** The library is loaded with the first request, because most starts do not need it. */
export function certificateRequests(authority: KeyAndCertificate): CertificateRequests {
  const load = () => import('../../pki/certificate-requests.ts');
  return {
    read: async (pem) => (await load()).readCertificateRequest(pem),
    sign: async (pem, terms) => (await load()).signCertificateRequest(authority, pem, terms),
    authority: authority.certificate,
  };
}
