/**
 * PodCertificateRequest: a node's request for the certificate of a pod that it runs. Keys and certificates
 * are checked in admission (src/kube-apiserver/admission/pod-certificate-request.ts), which can parse them.
 */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { formatLabels, nameColumn } from '../../columns.ts';
import { defaultLifetimeSeconds } from './certificate-terms.ts';
import { outcomeOf } from './pod-certificate-outcome.ts';
import { validateSpec, validateStatus, validateUpdate } from './pod-certificate-validation.ts';
import type { PodCertificateRequest } from './types.gen.ts';

export type { PodCertificateRequest } from './types.gen.ts';

const specColumn = (
  name: string,
  description: string,
  cell: (spec: PodCertificateRequest['spec']) => string,
) => ({ name, type: 'string', description, cell: ({ spec }: PodCertificateRequest) => cell(spec) });

export const podCertificateRequestResource: ResourceDefinition<PodCertificateRequest> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'PodCertificateRequest',
  plural: 'podcertificaterequests',
  singular: 'podcertificaterequest',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'certificates.v1.PodCertificateRequest',
  rules: {
    'certificates.v1.PodCertificateRequest': {},
    'certificates.v1.PodCertificateRequestSpec': {
      defaults: {
        ...{ signerName: '', podName: '', podUID: '', serviceAccountName: '', serviceAccountUID: '' },
        ...{ nodeName: '', nodeUID: '', stubPKCS10Request: '', maxExpirationSeconds: defaultLifetimeSeconds },
      },
    },
    'certificates.v1.PodCertificateRequestStatus': {},
  },
  strategy: {
    validate: validateSpec,
    validateUpdate,
    validateStatus,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    specColumn('PodName', 'The pod whose files have the certificate.', ({ podName }) => podName),
    specColumn('ServiceAccountName', 'The account of the pod.', ({ serviceAccountName: name }) => name),
    specColumn('NodeName', 'The node that runs the pod.', ({ nodeName }) => nodeName),
    specColumn('SignerName', 'The requested signer.', ({ signerName }) => signerName),
    {
      name: 'State',
      type: 'string',
      description: 'Pending, Issued, Denied or Failed.',
      cell: (request) => outcomeOf(request)?.type ?? 'Pending',
    },
    specColumn(
      'UnverifiedUserAnnotations',
      'Annotations for the signer, written by the author of the pod.',
      ({ unverifiedUserAnnotations }) => formatLabels(unverifiedUserAnnotations),
    ),
  ],
  selectableFields: {
    'spec.signerName': ({ spec }) => spec.signerName,
    'spec.podName': ({ spec }) => spec.podName,
    'spec.nodeName': ({ spec }) => spec.nodeName,
  },
  indexedFields: ['spec.nodeName'],
  deleteAnswers: 'status',
};
