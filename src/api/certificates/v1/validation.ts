/**
 * Rules of certificate signing requests (pkg/apis/certificates/validation). The content of the PEM is
 * validated in admission/certificate-signing-request.ts, which can parse it.
 */

import { deepEqual, repeats } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import { decisions } from './conditions.ts';
import { validateSignerName } from './signer-name.ts';
import type { CertificateSigningRequest } from './types.gen.ts';

type Conditions = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>;

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const minSeconds = 600;

export function validateSpec(spec: CertificateSigningRequest['spec']): StatusCause[] {
  const { expirationSeconds } = spec;
  const tooBrief = expirationSeconds !== undefined && expirationSeconds < minSeconds;
  return [
    ...(spec.usages.length > 0 ? validateUsages(spec.usages) : [requiredCause('spec.usages')]),
    ...validateSigner('spec.signerName', spec.signerName),
    ...(tooBrief
      ? [
          invalidCause(
            'spec.expirationSeconds',
            expirationSeconds,
            `may not specify a duration less than ${minSeconds} seconds (10 minutes)`,
          ),
        ]
      : []),
  ];
}

/** Validates usages; stops when there are more causes than are reported, since each lists all usages. */
function validateUsages(asked: readonly string[]): StatusCause[] {
  const repeated = repeats(asked);
  const causes: StatusCause[] = [];
  for (const [index, usage] of asked.entries()) {
    const path = `spec.usages[${index}]`;
    if (!usages.includes(usage)) causes.push(notSupportedCause(path, usage, usages));
    if (repeated[index]) causes.push(duplicateCause(path, usage));
    if (causes.length > maxCauses) break;
  }
  return causes;
}

/** Validates the signer of a request: the legacy signer is only known to earlier versions of the API. */
const validateSigner = (path: string, name: string): StatusCause[] =>
  name === 'kubernetes.io/legacy-unknown'
    ? [invalidCause(path, name, 'the legacy signerName is not allowed via this API version')]
    : validateSignerName(path, name);

/**
 * Validates a status update: decisions are permanent, only `/approval` decides, and a certificate is written
 * once.
 */
export function validateStatusUpdate(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  subresource: string,
): StatusCause[] {
  const conditions = request.status?.conditions ?? [];
  const before = old.status?.conditions ?? [];
  return [
    ...validateConditions(conditions),
    ...decisions
      .filter((type) => countOf(conditions, type) < countOf(before, type))
      .map((type) => forbiddenChange(`updates may not remove a condition of type ${JSON.stringify(type)}`)),
    ...(subresource === 'approval' ? [] : validateUndecided(conditions, before)),
    ...validateCertificate(request, old),
  ];
}

const forbiddenChange = (why: string) => forbiddenCause('status.conditions', why);
const countOf = (conditions: Conditions, type: string) =>
  conditions.filter((condition) => condition.type === type).length;

function validateConditions(conditions: Conditions): StatusCause[] {
  const types = conditions.map(({ type }) => type);
  const repeated = repeats(types);
  const decidedBoth = types.includes('Approved') && types.includes('Denied');
  const second = Math.max(types.indexOf('Approved'), types.indexOf('Denied'));
  const exclusive = 'Approved and Denied conditions are mutually exclusive';
  return conditions.flatMap(({ type, status }, index) => {
    const path = `status.conditions[${index}]`;
    const isDecision = decisions.some((decision) => decision === type);
    return [
      ...(type === '' ? [requiredCause(`${path}.type`)] : []),
      ...(isDecision && status !== 'True' ? [notSupportedCause(`${path}.status`, status, ['True'])] : []),
      ...(decidedBoth && index === second ? [invalidCause(`${path}.type`, type, exclusive)] : []),
      ...(repeated[index] ? [duplicateCause(`${path}.type`, type)] : []),
    ];
  });
}

function validateUndecided(conditions: Conditions, before: Conditions): StatusCause[] {
  return (['Approved', 'Denied'] as const).flatMap((type) => {
    const of = (all: Conditions) => all.filter((condition) => condition.type === type);
    const [now, then] = [of(conditions), of(before)];
    if (now.length < then.length || deepEqual(now, then)) return [];
    const what = now.length > then.length ? 'add' : 'modify';
    return [forbiddenChange(`updates may not ${what} a condition of type ${JSON.stringify(type)}`)];
  });
}

function validateCertificate(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
): StatusCause[] {
  const before = old.status?.certificate;
  if (!before || request.status?.certificate === before) return [];
  return [forbiddenCause('status.certificate', 'updates may not modify existing certificate content')];
}
