/**
 * Rules of PodCertificateRequests that need no certificate (upstream: pkg/apis/certificates/validation).
 * Pure.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  invalidCause,
  invalidTogetherCause,
  notSupportedCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateConditions } from '../../conditions.ts';
import { maxLifetimeSeconds, minLifetimeSeconds, validateUserAnnotations } from './certificate-terms.ts';
import { isOutcome, outcomeOf, outcomes } from './pod-certificate-outcome.ts';
import { validateSignerName } from './signer-name.ts';
import type { PodCertificateRequest, PodCertificateRequestStatus } from './types.gen.ts';

const maxUidLength = 128;
const maxRequestBytes = 10 * 1024;
const maxChainBytes = 100 * 1024;

export const stubRequestPath = 'spec.stubPKCS10Request';
export const chainPath = 'status.certificateChain';

export function validateSpec({ spec }: PodCertificateRequest): StatusCause[] {
  const { signerName, maxExpirationSeconds = 0, stubPKCS10Request, unverifiedUserAnnotations } = spec;
  const most = maxLifetimeSeconds(signerName);
  const isInRange = maxExpirationSeconds >= minLifetimeSeconds && maxExpirationSeconds <= most;
  const range = `must be in the range [${minLifetimeSeconds}, ${most}]`;
  return [
    ...validateSignerName('spec.signerName', signerName),
    ...validateUserAnnotations(unverifiedUserAnnotations, 'spec.unverifiedUserAnnotations'),
    ...nameCauses('spec.podName', spec.podName, checkDns1123Subdomain),
    ...uidCauses('spec.podUID', spec.podUID),
    ...nameCauses('spec.serviceAccountName', spec.serviceAccountName, checkDns1123Subdomain),
    ...uidCauses('spec.serviceAccountUID', spec.serviceAccountUID),
    ...nameCauses('spec.nodeName', spec.nodeName, checkDns1123Subdomain),
    ...uidCauses('spec.nodeUID', spec.nodeUID),
    ...(isInRange ? [] : [invalidCause('spec.maxExpirationSeconds', maxExpirationSeconds, range)]),
    ...requestCauses(stubPKCS10Request),
  ];
}

const uidCauses = (path: string, uid: string): StatusCause[] => [
  ...(uid === '' ? [invalidCause(path, uid, 'must not be empty')] : []),
  ...(uid.length > maxUidLength ? [tooLongCause(path, maxUidLength)] : []),
];

function requestCauses(base64: string): StatusCause[] {
  const why = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set';
  if (base64 === '') return [invalidTogetherCause('spec', why)];
  return Buffer.byteLength(base64, 'base64') > maxRequestBytes
    ? [tooLongCause(stubRequestPath, maxRequestBytes)]
    : [];
}

export const validateUpdate = (
  { spec }: PodCertificateRequest,
  { spec: old }: PodCertificateRequest,
): StatusCause[] => (deepEqual(spec, old) ? [] : [invalidCause('spec', spec, 'field is immutable')]);

/**
 * Validates a status update: it ends a pending request, with one condition, and with a certificate only if it
 * is issued. Afterwards the status is immutable.
 */
export function validateStatus(request: PodCertificateRequest, old: PodCertificateRequest): StatusCause[] {
  const conditions = request.status?.conditions ?? [];
  const causes = [...conditionCauses(conditions), ...validateConditions(conditions, 'status.conditions')];
  if (causes.length > 0) return causes;
  const isSame = deepEqual(withoutBlanks(request.status), withoutBlanks(old.status));
  if (outcomeOf(old))
    return isSame
      ? []
      : [
          invalidTogetherCause(
            'status',
            'immutable after PodCertificateRequest is issued, denied, or failed',
          ),
        ];
  const outcome = outcomeOf(request)?.type;
  if (outcome === undefined) {
    const why = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"';
    return isSame ? [] : [invalidTogetherCause('status', why)];
  }
  return outcome === 'Issued' ? chainSizeCauses(request) : unissuedCauses(request);
}

function conditionCauses(conditions: NonNullable<PodCertificateRequestStatus['conditions']>): StatusCause[] {
  return conditions.flatMap(({ type, status }, index) => {
    const at = `status.conditions[${index}]`;
    if (!isOutcome(type)) return [notSupportedCause(`${at}.type`, type, outcomes)];
    const why = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    const isSecond = conditions.slice(0, index).some((before) => isOutcome(before.type));
    return [
      ...(isSecond ? [invalidCause(`${at}.type`, type, why)] : []),
      ...(status === 'True' ? [] : [notSupportedCause(`${at}.status`, status, ['True'])]),
    ];
  });
}

function unissuedCauses({ status }: PodCertificateRequest): StatusCause[] {
  const { conditions: _, ...others } = withoutBlanks(status);
  const why = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest';
  return Object.keys(others).length > 0 ? [invalidTogetherCause('status', why)] : [];
}

const chainSizeCauses = ({ status }: PodCertificateRequest): StatusCause[] =>
  Buffer.byteLength(status?.certificateChain ?? '') > maxChainBytes
    ? [tooLongCause(chainPath, maxChainBytes)]
    : [];

/** Returns the fields that are set; an empty text or list counts as absent, as in Go. */
const withoutBlanks = (status: PodCertificateRequestStatus = {}): Partial<PodCertificateRequestStatus> =>
  Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== undefined && value !== '' && value.length > 0),
  );
