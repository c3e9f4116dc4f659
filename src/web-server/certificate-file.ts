/** Files of certificates in PEM, as nginx reads them: one with its key, or those of authorities. */
import { createHash } from 'node:crypto';

export interface CertificateFile {
  /** Unique to the content. */
  readonly name: string;
  readonly pem: string;
}

export function certificateFile({
  certificate,
  key,
}: {
  readonly certificate: string;
  readonly key: string;
}): CertificateFile {
  const pem = `${certificate.trim()}\n${key.trim()}\n`;
  return { name: `${hashOf(pem)}.pem`, pem };
}

/** Returns the file of authorities that are trusted. */
export const authoritiesFile = (pem: string): CertificateFile => ({ name: `ca-${hashOf(pem)}.pem`, pem });

const hashOf = (pem: string) => createHash('sha256').update(pem).digest('hex').slice(0, 32);
