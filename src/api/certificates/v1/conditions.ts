/** Names for certificate signing requests: signers, decisions and the remote address of the client. */

import type { CertificateSigningRequest } from './types.gen.ts';
export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/** Key in `spec.extra` for the address from which the API server received the request. */
export const remoteAddressKey = 'minik8s.io/remote-address';

/**
 * Key in `spec.extra` for the fingerprint of the expired certificate by which a node has authenticated. The
 * API server writes it.
 */
export const expiredCertificateKey = 'minik8s.io/expired-certificate';

/** Path of the document with the authorities of the cluster. */
export const authorityPath = '/minik8s/certificate-authority';

/** Types of conditions. Each is either present with status True, permanently, or absent. */
export const decisions = ['Approved', 'Denied', 'Failed'] as const;

export const hasCondition = (request: CertificateSigningRequest, type: (typeof decisions)[number]) =>
  request.status?.conditions?.some((condition) => condition.type === type) ?? false;

/**
 * Returns true if a person has to approve the machine that requests to join: the approving controller then
 * makes the pending Node an owner of the request.
 */
export const awaitsApproval = (request: CertificateSigningRequest) =>
  isUndecided(request) && (request.metadata.ownerReferences?.some(({ kind }) => kind === 'Node') ?? false);

/** Returns true if the request has no decision and no certificate. */
export const isUndecided = (request: CertificateSigningRequest) =>
  decisions.every((type) => !hasCondition(request, type)) && !request.status?.certificate;
