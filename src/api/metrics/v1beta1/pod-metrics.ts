import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import type { PodMetrics } from './types.gen.ts';
import { measured, measuredFields, measuredRules, usageFields, windowColumn } from './usage.ts';

export type { PodMetrics } from './types.gen.ts';

const types: DescribedTypes = {
  PodMetrics: {
    '': 'Current usage of the containers of a pod.',
    ...measuredFields('PodMetrics'),
    'containers!:[]PodMetricsContainers': 'The running containers with the usage of each.',
  },
  PodMetricsContainers: {
    'name!:string': 'Name of the container.',
    'usage!:PodMetricsContainersUsage': 'Usage of the container.',
  },
  PodMetricsContainersUsage: usageFields,
};

export const podMetricsResource: ResourceDefinition<PodMetrics> = {
  ...measured,
  kind: 'PodMetrics',
  plural: 'pods',
  singular: 'podmetrics',
  namespaced: true,
  typeName: 'PodMetrics',
  types,
  rules: { PodMetrics: measuredRules('PodMetrics') },
  columns: [
    nameColumn,
    {
      name: 'Containers',
      type: 'string',
      description: 'The CPU and the memory that each container uses.',
      cell: ({ containers }) =>
        containers.map(({ name, usage }) => `${name} ${usage.cpu} ${usage.memory}`).join(', '),
    },
    windowColumn,
    ageColumn,
  ],
};
