/** WorkflowHistory: history entries of a run that do not fit into its status. */
import * as v from 'valibot';
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import { historyEntrySchema } from './workflow-history-entry.ts';

const workflowHistorySchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('WorkflowHistory'), v.description('The kind of the object: WorkflowHistory.')),
    metadata: objectMetaSchema,
    spec: v.pipe(
      struct({
        run: v.pipe(v.string(), v.description<string, string>('Name of the WorkflowRun.')),
        entries: v.pipe(v.array(historyEntrySchema), v.description('Entries of its history, in order.')),
      }),
      v.description('A part of the history of a run. It cannot be changed.'),
    ),
  }),
  v.description('WorkflowHistory is a part of the history of a WorkflowRun, NAME-0001 the oldest.'),
);

export type WorkflowHistory = v.InferOutput<typeof workflowHistorySchema>;

export const workflowHistoryResource: ResourceDefinition<WorkflowHistory> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'WorkflowHistory',
  plural: 'workflowhistories',
  singular: 'workflowhistory',
  shortNames: ['wfh'],
  categories: [],
  namespaced: true,
  typeName: 'WorkflowHistory',
  schema: workflowHistorySchema,
  strategy: {
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a WorkflowHistory cannot be changed')],
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    { name: 'Run', type: 'string', description: 'The WorkflowRun it is of.', cell: ({ spec }) => spec.run },
    {
      name: 'Entries',
      type: 'integer',
      description: 'How many entries it has.',
      cell: ({ spec }) => spec.entries.length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
