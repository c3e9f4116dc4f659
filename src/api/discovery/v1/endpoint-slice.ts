import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, listWithMore, nameColumn } from '../../columns.ts';
import { validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice-validation.ts';
import type { EndpointSlice } from './types.gen.ts';

export type { Endpoint, EndpointPort, EndpointSlice } from './types.gen.ts';

const shownInColumn = 3;
const unset = '<unset>';

/** Label with the name of the slice's Service. */
export const serviceNameLabel = 'kubernetes.io/service-name';
/** Label with the writer of a slice. */
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** Annotation with the time of the change that caused the endpoints; nodes measure their delay by it. */
export const lastChangeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

export const endpointSliceResource: ResourceDefinition<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'discovery.v1.EndpointSlice',
  rules: {
    'discovery.v1.Endpoint': {
      acts: 'addresses conditions hostname nodeName targetRef',
      defaults: { conditions: {} },
    },
    'discovery.v1.EndpointConditions': {},
    'discovery.v1.EndpointPort': { defaults: { name: '', protocol: 'TCP' } },
    'discovery.v1.EndpointSlice': {
      defaults: { endpoints: [], ports: [] },
      choices: { addressType: ['IPv4', 'IPv6', 'FQDN'] },
    },
  },
  strategy: {
    validate: validateEndpointSlice,
    validateUpdate: validateEndpointSliceUpdate,
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'AddressType',
      type: 'string',
      description: 'IPv4, IPv6 or FQDN.',
      cell: (slice) => slice.addressType,
    },
    {
      name: 'Ports',
      type: 'string',
      description: 'Ports that every endpoint of the slice serves.',
      cell: ({ ports }) => {
        const texts = ports.map(({ port, name }) => (port === undefined ? name || '*' : `${port}`));
        return listWithMore(texts, shownInColumn, unset);
      },
    },
    {
      name: 'Endpoints',
      type: 'string',
      description: 'Addresses behind the service.',
      cell: ({ endpoints }) =>
        listWithMore(
          endpoints.flatMap((one) => one.addresses),
          shownInColumn,
          unset,
        ),
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
