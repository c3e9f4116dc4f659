/** The certificate authorities that this machine trusts. */
import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';

/** Files in which distributions keep the certificates, in PEM. */
const files = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Resolves to the certificates in PEM; on a machine without such a file to those that Node contains. */
export async function systemAuthorities(paths: readonly string[] = files): Promise<string> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  }
  return getCACertificates('bundled').join('\n');
}
