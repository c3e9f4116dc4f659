import { humanDuration } from '../../../apimachinery/age.ts';
import { checkPathSegment } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { hasCondition } from './conditions.ts';
import { prepareStatus, writeRequester } from './preparation.ts';
import type { CertificateSigningRequest } from './types.gen.ts';
import { validateSpec, validateStatusUpdate } from './validation.ts';

export type { CertificateSigningRequest } from './types.gen.ts';

/** Returns the condition in upstream's form: a denial takes precedence over an approval. */
function conditionText(request: CertificateSigningRequest): string {
  const decision = hasCondition(request, 'Denied')
    ? 'Denied'
    : hasCondition(request, 'Approved')
      ? 'Approved'
      : 'Pending';
  const failed = hasCondition(request, 'Failed') ? ',Failed' : '';
  return `${decision}${failed}${request.status?.certificate ? ',Issued' : ''}`;
}

export const certificateSigningRequestResource: ResourceDefinition<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  categories: [],
  namespaced: false,
  typeName: 'certificates.v1.CertificateSigningRequest',
  rules: {
    'certificates.v1.CertificateSigningRequest': {},
    'certificates.v1.CertificateSigningRequestCondition': {
      choices: { status: ['True', 'False', 'Unknown'] },
    },
    'certificates.v1.CertificateSigningRequestSpec': { defaults: { usages: [] } },
    'certificates.v1.CertificateSigningRequestStatus': {},
  },
  strategy: {
    prepareForCreate: writeRequester,
    prepareForStatusUpdate: prepareStatus,
    prepareForUpdate(request, old) {
      request.spec = old.spec;
    },
    resetFields: {
      '': ['spec', 'status'],
      status: ['spec', 'status.conditions'],
      approval: ['spec', 'status.certificate'],
    },
    validate: ({ spec }) => validateSpec(spec),
    validateStatus: validateStatusUpdate,
    checkName: checkPathSegment,
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    ageColumn,
    {
      name: 'SignerName',
      type: 'string',
      description: 'The requested signer.',
      cell: ({ spec }) => spec.signerName,
    },
    {
      name: 'Requestor',
      type: 'string',
      description: 'The user who made the request.',
      cell: ({ spec }) => spec.username ?? '',
    },
    {
      name: 'RequestedDuration',
      type: 'string',
      description: 'Requested duration of the certificate.',
      cell: ({ spec }) =>
        spec.expirationSeconds === undefined ? none : humanDuration(spec.expirationSeconds * 1000),
    },
    {
      name: 'Condition',
      type: 'string',
      description: 'Whether the request was approved or denied, and whether the certificate was issued.',
      cell: conditionText,
    },
  ],
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
  deleteAnswers: 'status',
};
