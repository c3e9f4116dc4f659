/** Certificates of authorities that a user supplies, checked before a server loads them. */
import { X509Certificate } from 'node:crypto';

const maxLength = 256 * 1024;
const maxCertificates = 100;
const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const begin = /-----BEGIN CERTIFICATE-----/g;

export type AuthorityBundle =
  /** The certificates in PEM, each of them once, without any other text. */
  | { readonly pem: string }
  /** Why the text is not usable, as a sentence without its subject. */
  | { readonly problem: string };

/** Reads the value of `ca.crt`. */
export function authorityBundle(text: string | undefined): AuthorityBundle {
  if (!text) return { problem: 'has no ca.crt' };
  if (text.length > maxLength) return { problem: `has a ca.crt of more than ${maxLength} characters` };
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0) return { problem: 'has no certificate in PEM in ca.crt' };
  if (blocks.length > maxCertificates)
    return { problem: `has more than ${maxCertificates} certificates in ca.crt` };
  if (blocks.length !== (text.match(begin) ?? []).length)
    return { problem: 'has a certificate without an end in ca.crt' };
  try {
    const all = blocks.map((one) => new X509Certificate(one).toString().trim());
    return { pem: `${[...new Set(all)].join('\n')}\n` };
  } catch (error) {
    return { problem: `has a ca.crt that cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}
