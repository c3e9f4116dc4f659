/** The two certificates of a node: its client certificate for the API server, and its serving certificate. */
import { X509Certificate } from 'node:crypto';
import { kubeletClientSigner, kubeletServingSigner } from '../api/certificates/v1/conditions.ts';
import { isAddress } from '../base/addresses.ts';
import { signerOf } from '../os/certificate-bundle.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import type { CertificateOrder } from './certificate-request.ts';

export const nodeUser = (nodeName: string) => `system:node:${nodeName}`;

/** User as which a node requests its next certificate after the last one has expired. */
export const expiredNodeUser = (nodeName: string) => `system:expired-node:${nodeName}`;

type Order = Omit<CertificateOrder, 'requester'>;

export const clientOrder = (nodeName: string, key: string): Order => ({
  signerName: kubeletClientSigner,
  usages: ['digital signature', 'client auth'],
  subject: { commonName: nodeUser(nodeName), organizations: ['system:nodes'] },
  key,
});

/** `hosts` are the node's own name and addresses, no others. */
export const servingOrder = (nodeName: string, hosts: readonly string[], key: string): Order => ({
  signerName: kubeletServingSigner,
  usages: ['digital signature', 'server auth'],
  subject: { commonName: nodeUser(nodeName), organizations: ['system:nodes'], hosts },
  key,
});

/**
 * Returns whether the pair is valid for serving: signed by one of the authorities, issued for all of the
 * hosts, and not expired.
 */
export function serves(
  { certificate: text }: KeyAndCertificate,
  authority: string,
  hosts: readonly string[],
  now: number,
): boolean {
  const certificate = new X509Certificate(text);
  const named = (host: string) => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host));
  return (
    signerOf(certificate, authority) !== undefined &&
    certificate.validToDate.getTime() > now &&
    hosts.every((host) => named(host) !== undefined)
  );
}
