import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import type { NodeMetrics } from './types.gen.ts';
import { measured, measuredFields, measuredRules, usageFields, windowColumn } from './usage.ts';

export type { NodeMetrics } from './types.gen.ts';

const types: DescribedTypes = {
  NodeMetrics: {
    '': 'Current usage of a node: of its pods and everything else on the machine.',
    ...measuredFields('NodeMetrics'),
    'usage!:NodeMetricsUsage': 'Usage of the node.',
  },
  NodeMetricsUsage: usageFields,
};

export const nodeMetricsResource: ResourceDefinition<NodeMetrics> = {
  ...measured,
  kind: 'NodeMetrics',
  plural: 'nodes',
  singular: 'nodemetrics',
  namespaced: false,
  typeName: 'NodeMetrics',
  types,
  rules: { NodeMetrics: measuredRules('NodeMetrics') },
  columns: [
    nameColumn,
    { name: 'CPU', type: 'string', description: 'CPU in use.', cell: ({ usage }) => usage.cpu },
    { name: 'Memory', type: 'string', description: 'Memory in use.', cell: ({ usage }) => usage.memory },
    windowColumn,
    ageColumn,
  ],
};
