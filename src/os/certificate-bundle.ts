/** Bundles of certificates: several PEM blocks in one text, as in a file of trusted authorities. */
import { X509Certificate } from 'node:crypto';

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a bundle in their order. Throws an Error for a block that cannot be read. */
export const certificatesOf = (bundle: string): X509Certificate[] =>
  [...bundle.matchAll(block)].map(([text]) => new X509Certificate(text));

/** Returns the authority of the bundle that has signed the certificate; undefined if none has. */
export const signerOf = (certificate: X509Certificate, bundle: string): X509Certificate | undefined =>
  certificatesOf(bundle).find(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  );
