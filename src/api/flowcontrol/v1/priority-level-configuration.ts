/**
 * PriorityLevelConfiguration: the number of concurrent requests of a level. It is stored; minik8s does not
 * limit requests by it.
 */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { flowcontrolGroup, keepMetadata, validateConditions } from './conditions.ts';
import { validatePriorityLevel } from './priority-level-validation.ts';
import type { PriorityLevelConfiguration } from './types.gen.ts';

const queuingOf = ({ spec }: PriorityLevelConfiguration) => spec.limited?.limitResponse.queuing;

export const priorityLevelConfigurationResource: ResourceDefinition<PriorityLevelConfiguration> = {
  group: flowcontrolGroup,
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  singular: 'prioritylevelconfiguration',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'flowcontrol.v1.PriorityLevelConfiguration',
  rules: {
    'flowcontrol.v1.PriorityLevelConfiguration': { defaults: { spec: {} } },
    'flowcontrol.v1.PriorityLevelConfigurationSpec': { defaults: { type: '' } },
    'flowcontrol.v1.LimitedPriorityLevelConfiguration': {
      defaults: { nominalConcurrencyShares: 30, lendablePercent: 0, limitResponse: {} },
    },
    'flowcontrol.v1.LimitResponse': { defaults: { type: '' } },
    'flowcontrol.v1.QueuingConfiguration': { defaults: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    'flowcontrol.v1.ExemptPriorityLevelConfiguration': {
      defaults: { nominalConcurrencyShares: 0, lendablePercent: 0 },
    },
    'flowcontrol.v1.PriorityLevelConfigurationStatus': {},
    'flowcontrol.v1.PriorityLevelConfigurationCondition': { defaults: { type: '' } },
  },
  strategy: {
    resetFields: { status: ['metadata', 'spec'] },
    // Zero counts as unset.
    setDefaults: (level) => {
      const queuing = queuingOf(level);
      if (!queuing) return;
      queuing.queues ||= 64;
      queuing.handSize ||= 8;
      queuing.queueLengthLimit ||= 50;
    },
    prepareForCreate: (level) => {
      level.status = {};
    },
    prepareForStatusUpdate: keepMetadata,
    validate: validatePriorityLevel,
    validateStatus: validateConditions,
    warnings: () => [
      'PriorityLevelConfiguration is stored and not acted on yet: requests are not limited by it',
    ],
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Type',
      type: 'string',
      description: 'Whether requests are limited or exempt.',
      cell: ({ spec }) => spec.type,
    },
    {
      name: 'NominalConcurrencyShares',
      type: 'string',
      description: 'The share of the concurrently served requests.',
      cell: ({ spec }) => spec.limited?.nominalConcurrencyShares ?? none,
    },
    {
      name: 'Queues',
      type: 'string',
      description: 'The number of queues.',
      cell: (level) => queuingOf(level)?.queues ?? none,
    },
    {
      name: 'HandSize',
      type: 'string',
      description: 'Number of queues among which a flow is assigned.',
      cell: (level) => queuingOf(level)?.handSize ?? none,
    },
    {
      name: 'QueueLengthLimit',
      type: 'string',
      description: 'Maximum number of requests in one queue.',
      cell: (level) => queuingOf(level)?.queueLengthLimit ?? none,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
