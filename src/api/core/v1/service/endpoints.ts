/**
 * Endpoints, the older form of EndpointSlices: clients still read them, and users still write them for
 * Services without a selector.
 */
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import { ageColumn, listWithMore, nameColumn, none } from '../../../columns.ts';
import type { Endpoints } from '../types.gen.ts';
import { validateEndpoints } from './endpoints-validation.ts';

export type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../types.gen.ts';

/** Label that excludes Endpoints from mirroring into slices, with the value `true`. */
export const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';

const shownInColumn = 3;

/** Returns the cell as kubectl does: empty, not `<none>`, when there are subsets without ready addresses. */
function endpointsCell({ subsets = [] }: Endpoints): string {
  const texts = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`),
        ),
  );
  return listWithMore(texts, shownInColumn, subsets.length === 0 ? none : '');
}

export const endpointsResource: ResourceDefinition<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  // Kubernetes' singular equals the plural.
  singular: 'endpoints',
  shortNames: ['ep'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.Endpoints',
  rules: {
    'core.v1.Endpoints': {},
    'core.v1.EndpointSubset': {},
    'core.v1.EndpointAddress': {},
    'core.v1.EndpointPort': { defaults: { protocol: 'TCP' } },
  },
  strategy: { validate: validateEndpoints, countsGenerations: false, createsOnUpdate: true },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Endpoints',
      type: 'string',
      description: 'Addresses and ports that are ready behind the service.',
      cell: endpointsCell,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
