import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { headFields, headRules } from '../../own-kind.ts';
import type { ServiceTraffic } from './types.gen.ts';

export type { ServiceTraffic } from './types.gen.ts';

const types: DescribedTypes = {
  ServiceTraffic: {
    '': 'Current traffic of a Service: the connections that its clients open to its addresses and ports.',
    ...headFields('ServiceTraffic'),
    'timestamp!:string': 'Time of the measurement.',
    'window!:string': 'Time before the timestamp over which the connections were counted.',
    'connectionsPerSecond!:string': 'Connections per second, such as 1500m for three in two seconds.',
    'endpoints!:[]ServiceTrafficEndpoints':
      'The endpoints with connections, those with the most connections first.',
  },
  ServiceTrafficEndpoints: {
    'address!:string': 'Address of the endpoint.',
    'port!:int32': 'Port of the endpoint.',
    'connectionsPerSecond!:string': 'Connections per second to this endpoint.',
  },
};

export const serviceTrafficResource: ResourceDefinition<ServiceTraffic> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'ServiceTraffic',
  plural: 'servicetraffics',
  singular: 'servicetraffic',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'ServiceTraffic',
  types,
  rules: { ServiceTraffic: headRules('ServiceTraffic') },
  strategy: { countsGenerations: false },
  hasStatus: false,
  isMeasured: true,
  selectableFields: {},
  deleteAnswers: 'status',
  columns: [
    nameColumn,
    {
      name: 'Connections/s',
      type: 'string',
      description: 'Connections per second.',
      cell: ({ connectionsPerSecond }) => connectionsPerSecond,
    },
    {
      name: 'Endpoints',
      type: 'string',
      description: 'The endpoints with connections, with the connections per second of each.',
      cell: ({ endpoints }) =>
        endpoints.map((one) => `${one.address}:${one.port} ${one.connectionsPerSecond}`).join(', '),
    },
    {
      name: 'Window',
      type: 'string',
      description: 'Window of the measurement.',
      cell: ({ window }) => window,
    },
    ageColumn,
  ],
};
