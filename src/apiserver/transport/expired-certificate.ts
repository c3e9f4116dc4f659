/**
 * A client certificate that is verified in every way, except that it has expired. The TLS handshake has
 * proven possession of its key. By itself it authenticates no user: an authenticator decides for what it
 * may be used.
 */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { holderOf } from '../../formats/certificate-names.ts';
import { signerOf } from '../../os/certificate-bundle.ts';
import type { ExpiredCertificate } from '../authentication/authenticator.ts';

/** Usage of certificates by which clients authenticate (RFC 5280 §4.2.1.12). */
const clientAuth = '1.3.6.1.5.5.7.3.2';

/** Returns undefined for a connection with a valid certificate, with a wrong one, or without any. */
export function expiredCertificateOf(socket: TLSSocket, authorities: string): ExpiredCertificate | undefined {
  // Node stores the code of the error as a text.
  if (String(socket.authorizationError) !== 'CERT_HAS_EXPIRED') return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate && readExpired(certificate, authorities);
}

/**
 * Returns the content of the certificate if a valid authority of the bundle has signed it for clients. The
 * error of a handshake is only the last of several, so everything but the expiry is verified here again.
 */
export function readExpired(
  certificate: X509Certificate,
  authorities: string,
): ExpiredCertificate | undefined {
  const signer = signerOf(certificate, authorities);
  const holder = holderOf(new Uint8Array(certificate.raw));
  const isForClients = certificate.keyUsage?.includes(clientAuth) === true && !certificate.ca;
  if (!signer || !holder || !isForClients) return undefined;
  return {
    ...holder,
    fingerprint: certificate.fingerprint256,
    notAfter: certificate.validToDate.getTime(),
    authorityEnds: signer.validToDate.getTime(),
  };
}
