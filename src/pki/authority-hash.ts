/** The hash by which machines recognise an authority. */
import { createHash, X509Certificate } from 'node:crypto';

/** Returns `sha256:<hex>` of the authority's public key, which a joining node compares (kubeadm's format). */
export function authorityHash(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
