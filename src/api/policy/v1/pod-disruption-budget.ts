import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateConditions } from '../../conditions.ts';
import { validateAtMostAll, validateIntOrPercent } from '../../int-or-percent.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { validateCounts } from '../../status-counts.ts';
import type { PodDisruptionBudget } from './types.gen.ts';

export type { PodDisruptionBudget } from './types.gen.ts';

function validateBudget({ spec }: PodDisruptionBudget): StatusCause[] {
  const { minAvailable, maxUnavailable, selector } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalidCause('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...(['minAvailable', 'maxUnavailable'] as const).flatMap((field) => {
      const value = spec[field];
      if (value === undefined) return [];
      const path = `spec.${field}`;
      return [...validateIntOrPercent(value, path), ...validateAtMostAll(value, path)];
    }),
    ...(selector ? validateLabelSelector(selector, 'spec.selector') : []),
  ];
}

export const podDisruptionBudgetResource: ResourceDefinition<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  categories: [],
  namespaced: true,
  typeName: 'policy.v1.PodDisruptionBudget',
  rules: {
    'policy.v1.PodDisruptionBudget': { defaults: { spec: {} } },
    'policy.v1.PodDisruptionBudgetSpec': {},
    'policy.v1.PodDisruptionBudgetStatus': {
      defaults: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  },
  strategy: {
    validate: validateBudget,
    validateStatus: ({ status }) =>
      status
        ? [...validateConditions(status.conditions ?? [], 'status.conditions'), ...validateCounts(status)]
        : [],
    countsGenerations: true,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Min Available',
      type: 'string',
      description: 'Minimum number of available pods.',
      cell: ({ spec }) => String(spec.minAvailable ?? 'N/A'),
    },
    {
      name: 'Max Unavailable',
      type: 'string',
      description: 'Maximum number of unavailable pods.',
      cell: ({ spec }) => String(spec.maxUnavailable ?? 'N/A'),
    },
    {
      name: 'Allowed Disruptions',
      type: 'integer',
      description: 'Number of evictions allowed now.',
      cell: ({ status }) => status?.disruptionsAllowed ?? 0,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
