/** The file of a certificate with its key, in PEM, as nginx reads it. */
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
  return { name: `${createHash('sha256').update(pem).digest('hex').slice(0, 32)}.pem`, pem };
}
