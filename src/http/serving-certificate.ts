/** Certificates with keys that a user supplies for a server, checked before a server loads them. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

const maxLength = 256 * 1024;
/** Web servers reject shorter RSA keys, and with them the whole configuration. */
const minRsaBits = 2048;

/** Certificates in PEM, the server's own first, and its private key. */
export interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Returns why the pair cannot be served, as a sentence; undefined if it can. An expired one can. */
export function servingCertificateProblem({ certificate, key }: ServingCertificate): string | undefined {
  if (certificate.length + key.length > maxLength)
    return `tls.crt and tls.key have more than ${maxLength} bytes`;
  try {
    const first = new X509Certificate(certificate);
    const secret = createPrivateKey(key);
    if (!first.checkPrivateKey(secret)) return 'tls.key is not the key of tls.crt';
    const bits = secret.asymmetricKeyDetails?.modulusLength;
    if (bits !== undefined && bits < minRsaBits)
      return `tls.key has ${bits} bits, and needs at least ${minRsaBits}`;
    createSecureContext({ cert: certificate, key });
    return undefined;
  } catch (error) {
    return `tls.crt or tls.key cannot be read: ${error instanceof Error ? error.message : error}`;
  }
}

/** Returns the DNS names of the certificate in lower case; wildcards begin with `*.`. */
export function certificateHosts(certificate: string): readonly string[] {
  const { subjectAltName = '' } = new X509Certificate(certificate);
  return [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].flatMap(([, name]) => name?.toLowerCase() ?? []);
}

/** Returns the day after which the certificate is no longer valid, in milliseconds since the Unix epoch. */
export const certificateEnd = (certificate: string): number =>
  new X509Certificate(certificate).validToDate.getTime();
