import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { conditionRules } from '../../shared-rules.ts';
import type { ReplicaSet } from './types.gen.ts';
import {
  podCountColumns,
  validateSelectorUnchanged,
  validateWorkload,
  workloadColumns,
  workloadScale,
  workloadWarnings,
} from './workload.ts';

export type { ReplicaSet } from './types.gen.ts';

export const replicaSetResource: ResourceDefinition<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  typeName: 'apps.v1.ReplicaSet',
  rules: {
    'apps.v1.ReplicaSet': {},
    'apps.v1.ReplicaSetSpec': {
      requires: 'template',
      defaults: { replicas: 1 },
      limits: { replicas: [0], minReadySeconds: [0] },
    },
    'apps.v1.ReplicaSetStatus': { mayLack: 'replicas', defaults: { replicas: 0 } },
    'apps.v1.ReplicaSetCondition': conditionRules,
  },
  strategy: {
    setDefaults: (replicaSet) => setPodTemplateDefaults(replicaSet.spec.template),
    validate: validateWorkload,
    validateUpdate: validateSelectorUnchanged,
    warnings: workloadWarnings,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [nameColumn, ...podCountColumns, ageColumn, ...workloadColumns],
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  scale: workloadScale,
  deleteAnswers: 'status',
};
