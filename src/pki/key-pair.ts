/** Checks of a key and its certificate after they were read from storage. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyAndCertificate } from './x509.ts';

/** Returns true if both can be parsed and the certificate belongs to the key. */
export function belongTogether({ key, certificate }: KeyAndCertificate): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Returns true if the pair can sign certificates: otherwise every request would stay pending. */
export const isAuthority = (pair: KeyAndCertificate): boolean =>
  belongTogether(pair) && new X509Certificate(pair.certificate).ca;
