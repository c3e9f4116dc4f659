/** The vocabulary of certificate signing requests: signers, decisions, and the node that a request is for. */
import type { CertificateSigningRequest } from './certificate-signing-request.ts';

export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/** In `spec.extra`: where the API server saw the request come from. */
export const remoteAddressKey = 'minik8s.io/remote-address';

/** Each condition is either present with status True, for good, or absent. */
export const decisions = ['Approved', 'Denied', 'Failed'] as const;

export const hasCondition = (request: CertificateSigningRequest, type: (typeof decisions)[number]) =>
  request.status?.conditions?.some((condition) => condition.type === type) ?? false;

/** Neither approved nor denied. */
export const isUndecided = (request: CertificateSigningRequest) =>
  decisions.every((type) => !hasCondition(request, type)) && !request.status?.certificate;
