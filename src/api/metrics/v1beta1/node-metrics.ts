import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { struct } from '../../../apimachinery/schema.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { measured, measuredFields, usageSchema, windowColumn } from './usage.ts';

const schema = v.pipe(
  struct({
    ...measuredFields('NodeMetrics'),
    usage: usageSchema,
  }),
  v.description('What a node uses now: its pods and everything else on the machine.'),
);

export type NodeMetrics = v.InferOutput<typeof schema>;

export const nodeMetricsResource: ResourceDefinition<NodeMetrics> = {
  ...measured,
  kind: 'NodeMetrics',
  plural: 'nodes',
  singular: 'nodemetrics',
  namespaced: false,
  typeName: 'NodeMetrics',
  schema,
  columns: [
    nameColumn,
    { name: 'CPU', type: 'string', description: 'Processors in use.', cell: ({ usage }) => usage.cpu },
    { name: 'Memory', type: 'string', description: 'Memory in use.', cell: ({ usage }) => usage.memory },
    windowColumn,
    ageColumn,
  ],
};
