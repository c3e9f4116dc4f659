import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, formatLabels, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { isNone, validateAtMostAll, validateIntOrPercent } from '../../int-or-percent.ts';
import { conditionRules } from '../../shared-rules.ts';
import { validateCollisions, validateCounts } from '../../status-counts.ts';
import type { DaemonSet } from './types.gen.ts';
import {
  ownTemplateWarnings,
  validateSelectorUnchanged,
  validateWorkload,
  workloadColumns,
} from './workload.ts';

export type { DaemonSet } from './types.gen.ts';

function setUpdateDefaults({ spec: { updateStrategy } }: DaemonSet): void {
  if (updateStrategy.type !== 'RollingUpdate') return;
  updateStrategy.rollingUpdate ??= {};
  updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  updateStrategy.rollingUpdate.maxSurge ??= 0;
}

/** Validates the strategy: either the old pod is deleted first, or the new one is created first. */
function validateUpdateStrategy({ spec: { updateStrategy } }: DaemonSet): StatusCause[] {
  if (updateStrategy.type !== 'RollingUpdate') return [];
  const path = 'spec.updateStrategy.rollingUpdate';
  const { maxUnavailable = 1, maxSurge = 0 } = updateStrategy.rollingUpdate ?? {};
  const causes = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...validateAtMostAll(maxSurge, `${path}.maxSurge`),
  ];
  if (!isNone(maxUnavailable) && !isNone(maxSurge))
    causes.push(invalidCause(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  if (isNone(maxUnavailable) && isNone(maxSurge))
    causes.push(requiredCause(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return causes;
}

const count = (name: string, description: string, field: keyof NonNullable<DaemonSet['status']>) =>
  ({
    name,
    type: 'integer',
    description,
    cell: ({ status }: DaemonSet) => Number(status?.[field] ?? 0),
  }) as const;

export const daemonSetResource: ResourceDefinition<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  typeName: 'apps.v1.DaemonSet',
  rules: {
    'apps.v1.DaemonSet': {},
    'apps.v1.DaemonSetSpec': {
      defaults: { updateStrategy: {}, revisionHistoryLimit: 10 },
      limits: { minReadySeconds: [0], revisionHistoryLimit: [0] },
    },
    'apps.v1.DaemonSetUpdateStrategy': { defaults: { type: 'RollingUpdate' } },
    'apps.v1.RollingUpdateDaemonSet': {},
    'apps.v1.DaemonSetStatus': {
      defaults: {
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
        desiredNumberScheduled: 0,
        numberReady: 0,
      },
    },
    'apps.v1.DaemonSetCondition': conditionRules,
  },
  strategy: {
    setDefaults: (set) => {
      setPodTemplateDefaults(set.spec.template);
      setUpdateDefaults(set);
    },
    validate: (set) => [...validateWorkload(set), ...validateUpdateStrategy(set)],
    validateUpdate: validateSelectorUnchanged,
    validateStatus: ({ status }, old) =>
      status ? [...validateCounts(status), ...validateCollisions(status, old.status)] : [],
    warnings: ownTemplateWarnings,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    count('Desired', 'Nodes that should run its pod.', 'desiredNumberScheduled'),
    count('Current', 'Nodes that run its pod and should.', 'currentNumberScheduled'),
    count('Ready', 'Nodes on which its pod is ready.', 'numberReady'),
    count('Up-to-date', 'Nodes whose pod is made from the current template.', 'updatedNumberScheduled'),
    count('Available', 'Nodes whose pod has been ready for minReadySeconds.', 'numberAvailable'),
    {
      name: 'Node Selector',
      type: 'string',
      description: 'The labels of its nodes.',
      cell: ({ spec }) => formatLabels(spec.template.spec.nodeSelector),
    },
    ageColumn,
    ...workloadColumns,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
