import { invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { conditionRules } from '../../shared-rules.ts';
import { setStrategyDefaults, validateStrategy } from './deployment-strategy.ts';
import type { Deployment } from './types.gen.ts';
import {
  readyPodsColumn,
  validateSelectorUnchanged,
  validateWorkload,
  workloadColumns,
  workloadScale,
  workloadWarnings,
} from './workload.ts';

export type { Deployment } from './types.gen.ts';

function validateRollout({ spec }: Deployment): StatusCause[] {
  const { progressDeadlineSeconds, minReadySeconds = 0 } = spec;
  const path = 'spec.progressDeadlineSeconds';
  const causes = validateStrategy(spec.strategy, 'spec.strategy');
  if (progressDeadlineSeconds <= minReadySeconds)
    causes.push(invalidCause(path, progressDeadlineSeconds, 'must be greater than minReadySeconds'));
  return causes;
}

export const deploymentResource: ResourceDefinition<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  typeName: 'apps.v1.Deployment',
  rules: {
    'apps.v1.Deployment': {},
    'apps.v1.DeploymentSpec': {
      defaults: { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      limits: {
        replicas: [0],
        minReadySeconds: [0],
        revisionHistoryLimit: [0],
        progressDeadlineSeconds: [0],
      },
    },
    'apps.v1.DeploymentStatus': {},
    'apps.v1.DeploymentStrategy': { defaults: { type: 'RollingUpdate' } },
    'apps.v1.RollingUpdateDeployment': {},
    'apps.v1.DeploymentCondition': conditionRules,
  },
  strategy: {
    setDefaults: (deployment) => {
      setPodTemplateDefaults(deployment.spec.template);
      setStrategyDefaults(deployment);
    },
    resetFields: { status: ['spec', 'metadata.labels'] },
    // A status update keeps the labels of a deployment, as upstream; no other kind does this.
    prepareForStatusUpdate: ({ metadata }, old) => keepMeta(metadata, old.metadata, 'labels'),
    validate: (deployment) => [...validateWorkload(deployment), ...validateRollout(deployment)],
    validateUpdate: validateSelectorUnchanged,
    warnings: workloadWarnings,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    readyPodsColumn,
    {
      name: 'Up-to-date',
      type: 'string',
      description: 'Pods made from the current template.',
      cell: ({ status }) => status?.updatedReplicas ?? 0,
    },
    {
      name: 'Available',
      type: 'string',
      description: 'Pods that have been ready for at least minReadySeconds.',
      cell: ({ status }) => status?.availableReplicas ?? 0,
    },
    ageColumn,
    ...workloadColumns,
  ],
  selectableFields: {},
  scale: workloadScale,
  deleteAnswers: 'status',
};
