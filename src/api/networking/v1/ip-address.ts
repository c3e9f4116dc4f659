/** IPAddress: an address that is in use, and the object that uses it. Its name is the address. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { checkCanonicalAddress } from '../../ip.ts';
import type { IPAddress } from './types.gen.ts';

export type { IPAddress } from './types.gen.ts';

/** Labels of the IPAddresses that the cluster makes for Services. */
export const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
export const familyLabel = 'ipaddress.kubernetes.io/ip-family';
export const addressManager = 'ipallocator.k8s.io';

/** Returns true if the address belongs to a Service, according to its reference. */
export const isOfService = ({ spec: { parentRef } }: IPAddress): boolean =>
  (parentRef.group ?? '') === '' && parentRef.resource === 'services';

const path = 'spec.parentRef';

function validate({ spec }: IPAddress): StatusCause[] {
  const { group = '', resource, name, namespace = '' } = spec.parentRef;
  // A missing reference is decoded as an empty one.
  if (!(group || resource || name || namespace)) return [requiredCause(path)];
  const segment = (field: string, value: string) =>
    value === ''
      ? [requiredCause(`${path}.${field}`)]
      : nameCauses(`${path}.${field}`, value, checkPathSegment);
  return [
    ...(group === '' ? [] : nameCauses(`${path}.group`, group, checkDns1123Subdomain)),
    ...segment('resource', resource),
    ...segment('name', name),
    ...(namespace === '' ? [] : nameCauses(`${path}.namespace`, namespace, checkPathSegment)),
  ];
}

function parentText({ spec: { parentRef } }: IPAddress): string {
  const { group = '', resource, namespace = '', name } = parentRef;
  const kind = `${resource}${group === '' ? '' : `.${group}`}`.toLowerCase();
  return [kind, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

export const ipAddressResource: ResourceDefinition<IPAddress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  categories: [],
  namespaced: false,
  typeName: 'networking.v1.IPAddress',
  rules: {
    'networking.v1.IPAddress': { defaults: { spec: {} } },
    'networking.v1.IPAddressSpec': {},
    'networking.v1.ParentReference': { defaults: { resource: '', name: '' } },
  },
  strategy: {
    validate,
    validateUpdate: ({ spec }, { spec: old }) =>
      deepEqual(spec.parentRef, old.parentRef)
        ? []
        : [invalidCause(path, spec.parentRef, 'field is immutable')],
    checkName: checkCanonicalAddress,
    countsGenerations: false,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'ParentRef',
      type: 'string',
      description: 'The object that uses the address.',
      cell: parentText,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
