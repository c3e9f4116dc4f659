/**
 * ClusterTrustBundle: certificates of authorities that pods trust. The certificates themselves are checked in
 * admission (src/kube-apiserver/admission/cluster-trust-bundle.ts), which can parse them.
 */
import { invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { nameColumn, none } from '../../columns.ts';
import { checkTrustBundleName, validateSignerName } from './signer-name.ts';
import type { ClusterTrustBundle } from './types.gen.ts';

export type { ClusterTrustBundle } from './types.gen.ts';

const maxBundleBytes = 1024 * 1024;

export const trustBundlePath = 'spec.trustBundle';

function validate({ metadata, spec }: ClusterTrustBundle): StatusCause[] {
  const { signerName = '', trustBundle } = spec;
  return [
    ...nameCauses('metadata.name', metadata.name, (name) => checkTrustBundleName(name, signerName)),
    ...(signerName === '' ? [] : validateSignerName('spec.signerName', signerName)),
    ...(Buffer.byteLength(trustBundle) > maxBundleBytes
      ? [tooLongCause(trustBundlePath, maxBundleBytes)]
      : []),
  ];
}

function validateUpdate({ spec }: ClusterTrustBundle, { spec: old }: ClusterTrustBundle): StatusCause[] {
  const { signerName = '' } = spec;
  return signerName === (old.signerName ?? '')
    ? []
    : [invalidCause('spec.signerName', signerName, 'field is immutable')];
}

export const clusterTrustBundleResource: ResourceDefinition<ClusterTrustBundle> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  singular: 'clustertrustbundle',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'certificates.v1.ClusterTrustBundle',
  rules: {
    'certificates.v1.ClusterTrustBundle': {},
    'certificates.v1.ClusterTrustBundleSpec': { defaults: { trustBundle: '' } },
  },
  strategy: {
    // The signer decides which names are allowed: `validate` checks the name.
    checkName: () => [],
    validate,
    validateUpdate,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'SignerName',
      type: 'string',
      description: 'The signer whose authorities the bundle has.',
      cell: ({ spec }) => spec.signerName || none,
    },
  ],
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName ?? '' },
  deleteAnswers: 'status',
};
