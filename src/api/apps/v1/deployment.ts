import * as v from 'valibot';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  intOrString,
  objectMetaSchema,
  struct,
} from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod-defaults.ts';
import { nonNegative } from '../../core/v1/pod-template-validation.ts';
import { setStrategyDefaults, validateStrategy } from './deployment-strategy.ts';
import {
  validateSelectorUnchanged,
  validateWorkload,
  workloadColumns,
  workloadScale,
  workloadSpec,
} from './workload.ts';

const deploymentSchema = struct({
  apiVersion: v.literal('apps/v1'),
  kind: v.literal('Deployment'),
  metadata: objectMetaSchema,
  spec: struct({
    ...workloadSpec,
    strategy: v.optional(
      struct({
        type: v.optional(v.picklist(['RollingUpdate', 'Recreate']), 'RollingUpdate'),
        rollingUpdate: v.optional(
          struct({ maxSurge: v.optional(intOrString()), maxUnavailable: v.optional(intOrString()) }),
        ),
      }),
      {},
    ),
    revisionHistoryLimit: v.optional(int32(), 10),
    progressDeadlineSeconds: v.optional(int32(), 600),
    paused: v.optional(v.boolean()),
  }),
  status: v.optional(
    struct({
      observedGeneration: v.optional(int64()),
      replicas: v.optional(int32()),
      updatedReplicas: v.optional(int32()),
      readyReplicas: v.optional(int32()),
      availableReplicas: v.optional(int32()),
      unavailableReplicas: v.optional(int32()),
      collisionCount: v.optional(int32()),
      conditions: v.optional(v.array(conditionSchema)),
    }),
  ),
});

export type Deployment = v.InferOutput<typeof deploymentSchema>;

function validateRollout({ spec }: Deployment): StatusCause[] {
  const { progressDeadlineSeconds, minReadySeconds = 0 } = spec;
  const path = 'spec.progressDeadlineSeconds';
  const causes = [
    ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ...nonNegative(progressDeadlineSeconds, path),
    ...validateStrategy(spec.strategy, 'spec.strategy'),
  ];
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
    },
    'apps.v1.DeploymentStatus': {},
    'apps.v1.DeploymentStrategy': { defaults: { type: 'RollingUpdate' } },
    'apps.v1.RollingUpdateDeployment': {},
    'apps.v1.DeploymentCondition': {
      requires: 'type status',
      choices: { status: ['True', 'False', 'Unknown'] },
    },
  },
  strategy: {
    setDefaults: (deployment) => {
      setPodTemplateDefaults(deployment.spec.template);
      setStrategyDefaults(deployment);
    },
    // As upstream: no other kind keeps these annotations.
    prepareForStatusUpdate: ({ metadata }, old) => keepMeta(metadata, old.metadata, 'labels'),
    validate: (deployment) => [...validateWorkload(deployment), ...validateRollout(deployment)],
    validateUpdate: validateSelectorUnchanged,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Ready',
      type: 'string',
      description: 'Ready pods, out of the desired number of pods.',
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
    },
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
