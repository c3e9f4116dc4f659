/** ReplicationController: the predecessor of ReplicaSet, whose selector is a plain map. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { formatSelector, matches, selectorFromMap } from '../../../apimachinery/labels.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { podCountColumns, podScale, templateColumns, validateEndlessPods } from '../../apps/v1/workload.ts';
import { ageColumn, formatLabels, nameColumn } from '../../columns.ts';
import { conditionRules } from '../../shared-rules.ts';
import { validateCounts, validateParts } from '../../status-counts.ts';
import { setPodTemplateDefaults } from './pod/defaults.ts';
import { podNameWarnings } from './pod/names.ts';
import { validatePodTemplate } from './pod/template-validation.ts';
import { templateWarnings } from './pod/warnings.ts';
import type { ReplicationController } from './types.gen.ts';

export type { ReplicationController } from './types.gen.ts';

const hasLabels = (labels: Record<string, string> | undefined) => Object.keys(labels ?? {}).length > 0;

/** Sets the selector and the controller's own labels to the labels of its pods by default. */
function setLabelDefaults({ metadata, spec }: ReplicationController): void {
  const { labels } = spec.template.metadata;
  if (!labels) return;
  if (!hasLabels(spec.selector)) spec.selector = { ...labels };
  if (!hasLabels(metadata.labels)) metadata.labels = { ...labels };
}

function validateController({ kind, spec }: ReplicationController): StatusCause[] {
  const causes = hasLabels(spec.selector) ? [] : [requiredCause('spec.selector')];
  const { labels } = spec.template.metadata;
  if (!matches(selectorFromMap(spec.selector), labels)) {
    const why = '`selector` does not match template `labels`';
    causes.push(invalidCause('spec.template.metadata.labels', labels ?? {}, why));
  }
  return [
    ...causes,
    ...validatePodTemplate(spec.template, 'spec.template'),
    ...validateEndlessPods(kind, spec.template),
  ];
}

function validateStatus(status: NonNullable<ReplicationController['status']>): StatusCause[] {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
  return [
    ...validateCounts(status),
    ...validateParts(status, 'replicas', parts, 'cannot be greater than status.replicas'),
    ...validateParts(status, 'readyReplicas', ['availableReplicas'], 'cannot be greater than readyReplicas'),
  ];
}

const ownWarnings = templateWarnings(({ spec }: ReplicationController) => spec.template, 'spec.template');

export const replicationControllerResource: ResourceDefinition<ReplicationController> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  typeName: 'core.v1.ReplicationController',
  rules: {
    'core.v1.ReplicationController': { requires: 'spec' },
    'core.v1.ReplicationControllerSpec': {
      requires: 'template',
      defaults: { replicas: 1 },
      limits: { replicas: [0], minReadySeconds: [0] },
    },
    'core.v1.ReplicationControllerStatus': { defaults: { replicas: 0 } },
    'core.v1.ReplicationControllerCondition': conditionRules,
  },
  strategy: {
    setDefaults: (controller) => {
      setPodTemplateDefaults(controller.spec.template);
      setLabelDefaults(controller);
    },
    validate: validateController,
    validateStatus: ({ status }) => (status ? validateStatus(status) : []),
    warnings: (controller, old) => [...podNameWarnings(controller, old), ...ownWarnings(controller, old)],
    countsGenerations: true,
    orphansByDefault: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    ...podCountColumns,
    ageColumn,
    ...templateColumns,
    {
      name: 'Selector',
      type: 'string',
      priority: 1,
      description: 'The labels of its pods.',
      cell: ({ spec }) => formatLabels(spec.selector),
    },
  ],
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  scale: { ...podScale, selector: ({ spec }) => formatSelector(selectorFromMap(spec.selector)) },
  deleteAnswers: 'status',
};
