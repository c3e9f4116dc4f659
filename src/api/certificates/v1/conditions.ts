/** The words of certificate signing requests: signers, decisions, and whom a request is about. */
import type { CertificateSigningRequest } from './certificate-signing-request.ts';

export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/** In `spec.extra`: where the API server saw the request come from. */
export const remoteAddressKey = 'minik8s.io/remote-address';

/** Each is either there with status True, for good, or not there. */
export const decisions = ['Approved', 'Denied', 'Failed'] as const;

export const hasCondition = (request: CertificateSigningRequest, type: (typeof decisions)[number]) =>
  request.status?.conditions?.some((condition) => condition.type === type) ?? false;

/** Nobody has said yes or no. */
export const isUndecided = (request: CertificateSigningRequest) =>
  decisions.every((type) => !hasCondition(request, type)) && !request.status?.certificate;
