/** WorkflowHistory: history entries of a run that do not fit into its status. */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { WorkflowHistory } from './types.gen.ts';
import { workflowHistoryTypes } from './workflow-history-types.ts';

export type { WorkflowHistory } from './types.gen.ts';

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
  types: workflowHistoryTypes,
  rules: {
    WorkflowHistory: headRules('WorkflowHistory'),
  },
  strategy: {
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a WorkflowHistory cannot be changed')],
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    { name: 'Run', type: 'string', description: 'The WorkflowRun.', cell: ({ spec }) => spec.run },
    {
      name: 'Entries',
      type: 'integer',
      description: 'Number of entries.',
      cell: ({ spec }) => spec.entries.length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
