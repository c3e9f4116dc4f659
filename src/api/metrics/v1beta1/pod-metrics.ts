import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { struct } from '../../../apimachinery/schema.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { measured, measuredFields, usageSchema, windowColumn } from './usage.ts';

const schema = v.pipe(
  struct({
    ...measuredFields('PodMetrics'),
    containers: v.pipe(
      v.array(
        struct({
          name: v.pipe(v.string(), v.description('Name of the container.')),
          usage: usageSchema,
        }),
      ),
      v.description('The containers that run, each by itself.'),
    ),
  }),
  v.description('What the containers of a pod use now.'),
);

export type PodMetrics = v.InferOutput<typeof schema>;

export const podMetricsResource: ResourceDefinition<PodMetrics> = {
  ...measured,
  kind: 'PodMetrics',
  plural: 'pods',
  singular: 'podmetrics',
  namespaced: true,
  typeName: 'PodMetrics',
  schema,
  columns: [
    nameColumn,
    {
      name: 'Containers',
      type: 'string',
      description: 'The processors and the memory that each uses.',
      cell: ({ containers }) =>
        containers.map(({ name, usage }) => `${name} ${usage.cpu} ${usage.memory}`).join(', '),
    },
    windowColumn,
    ageColumn,
  ],
};
