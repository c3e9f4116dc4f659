/** A key and its certificate as they are read back from where they were kept. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyAndCertificate } from './x509.ts';

/** Whether both can be read and the certificate is of that key. */
export function belongTogether({ key, certificate }: KeyAndCertificate): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Whether certificates can be signed with it: otherwise every request would wait for ever. */
export const isAuthority = (pair: KeyAndCertificate): boolean =>
  belongTogether(pair) && new X509Certificate(pair.certificate).ca;
