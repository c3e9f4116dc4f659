/** Trigger: calls a function, or runs a workflow, for each event of its source. */
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { ageSince } from '../../../apimachinery/age.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { changeTypes, outcomes, sourceNames } from './trigger-fields.ts';
import { triggerTypes } from './trigger-types.ts';
import { validateTrigger } from './trigger-validation.ts';
import type { Trigger } from './types.gen.ts';

export type { Trigger } from './types.gen.ts';

/** Returns the name of the trigger's source. */
export const sourceOf = ({ spec }: Trigger) => sourceNames.find((name) => spec[name] !== undefined);

export const triggerResource: ResourceDefinition<Trigger> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Trigger',
  plural: 'triggers',
  singular: 'trigger',
  shortNames: ['trg'],
  categories: [],
  namespaced: true,
  typeName: 'Trigger',
  types: triggerTypes,
  rules: {
    Trigger: headRules('Trigger'),
    TriggerSpec: { defaults: { retry: {}, deadLetters: {}, suspend: false, serviceAccountName: 'default' } },
    TriggerSpecTarget: { defaults: { kind: 'Function' }, choices: { kind: ['Function', 'Workflow'] } },
    TriggerSpecHttp: { defaults: { methods: ['POST'], public: false } },
    TriggerSpecObject: { defaults: { types: changeTypes } },
    TriggerSpecResult: { defaults: { outcomes } },
    TriggerSpecFile: { defaults: { types: changeTypes, recursive: false, includeContent: false } },
    TriggerSpecRetry: { defaults: { maxAttempts: 5, minSeconds: 1, maxSeconds: 300 } },
    TriggerSpecDeadLetters: { defaults: { limit: 100 } },
    TriggerStatusConditions: conditionRules,
  },
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateTrigger,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Source',
      type: 'string',
      description: 'The source of the events.',
      cell: (trigger) => sourceOf(trigger) ?? none,
    },
    {
      name: 'Target',
      type: 'string',
      description: 'The target that is called.',
      cell: ({ spec }) => `${spec.target.kind}/${spec.target.name}`,
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether events are recorded and delivered.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    {
      name: 'Delivered',
      type: 'integer',
      description: 'Number of delivered events.',
      cell: ({ status }) => status?.delivered ?? 0,
    },
    {
      name: 'Dead',
      type: 'integer',
      description: 'Number of dead letters.',
      cell: ({ status }) => status?.deadLetters ?? 0,
    },
    {
      name: 'Last',
      type: 'string',
      description: 'Time since the last delivery.',
      cell: ({ status }, now) => (status?.lastTime ? ageSince(status.lastTime, now) : none),
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
