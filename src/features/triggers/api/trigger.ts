/** Trigger: calls a function, or runs a workflow, for each event of its source. */
import * as v from 'valibot';
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { ageSince } from '../../../apimachinery/age.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  objectMetaSchema,
  struct,
  time,
} from '../../../apimachinery/schema.ts';
import { sourceFields, sourceNames } from './trigger-fields.ts';
import { validateTrigger } from './trigger-validation.ts';

const text = v.description<string, string>;
const number = (about: string, usual: number) => v.optional(v.pipe(int32(), v.description(about)), usual);

const targetSchema = v.pipe(
  struct({
    kind: v.optional(
      v.pipe(
        v.picklist(['Function', 'Workflow']),
        v.description('Function or Workflow. Defaults to Function.'),
      ),
      'Function',
    ),
    name: v.pipe(v.string(), text('Its name, in the namespace of the trigger.')),
  }),
  v.description('What is called with each event.'),
);

const usualRetry = { maxAttempts: 5, minSeconds: 1, maxSeconds: 300 };
const usualDeadLetters = { limit: 100 };

const specSchema = v.pipe(
  struct({
    target: targetSchema,
    ...sourceFields,
    input: v.optional(
      v.pipe(v.unknown(), v.description('JSON that is given along with each event, at most 256 KiB.')),
    ),
    retry: v.optional(
      v.pipe(
        struct({
          maxAttempts: number(
            'How often an event is tried, from 1 to 100. Defaults to 5.',
            usualRetry.maxAttempts,
          ),
          minSeconds: number('Seconds between the first two attempts. Defaults to 1.', usualRetry.minSeconds),
          maxSeconds: number(
            'The pause doubles with each attempt up to so many seconds. Defaults to 300.',
            usualRetry.maxSeconds,
          ),
        }),
        v.description('How an event is tried again that could not be delivered.'),
      ),
      usualRetry,
    ),
    deadLetters: v.optional(
      v.pipe(
        struct({
          limit: number('How many are kept, the newest. Defaults to 100.', usualDeadLetters.limit),
        }),
        v.description(
          'The events that could not be delivered: TriggerEvents of phase Failed, which can be replayed.',
        ),
      ),
      usualDeadLetters,
    ),
    suspend: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'Nothing is told or delivered meanwhile; what happens then is not made up for. Defaults to false.',
        ),
      ),
      false,
    ),
    serviceAccountName: v.optional(
      v.pipe(
        v.string(),
        text(
          'The account, of this namespace, as which objects are watched: it needs the verbs list and watch. Defaults to default.',
        ),
      ),
      'default',
    ),
  }),
  v.description(
    'What happens, and what is called then. Exactly one of cron, http, object, result and file is set.',
  ),
);

const positionSchema = v.pipe(
  struct({
    of: v.pipe(v.string(), text('Which source this is about: a hash of what the spec says of it.')),
    since: v.pipe(time(), text('Since when the trigger has this source.')),
    lastScheduleTime: v.optional(
      v.pipe(time(), text('The last time of the schedule that is told, or was missed.')),
    ),
    resourceVersion: v.optional(v.pipe(v.string(), text('Every change of objects up to here is told.'))),
    resourceTime: v.optional(v.pipe(time(), text('When it was there.'))),
  }),
  v.description('How far the source has been told.'),
);

const statusSchema = v.pipe(
  struct({
    observedGeneration: v.optional(
      v.pipe(int64(), v.description('The metadata.generation that this status was computed from.')),
    ),
    delivered: v.optional(v.pipe(int64(), v.description('How many events were delivered.'))),
    failed: v.optional(v.pipe(int64(), v.description('How many events became dead letters.'))),
    discarded: v.optional(
      v.pipe(int64(), v.description('How many dead letters were removed for newer ones.')),
    ),
    pending: v.optional(
      v.pipe(int32(), v.description('How many events were still to be delivered when this was written.')),
    ),
    deadLetters: v.optional(v.pipe(int32(), v.description('How many dead letters there are.'))),
    lastTime: v.optional(v.pipe(time(), v.description('When an event was delivered last.'))),
    position: v.optional(positionSchema),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description(
          'Ready says whether events are taken and delivered, and if not, why. Backlogged says that so many wait that no more ' +
            'are taken. EventsMissed says that some may have happened without being told.',
        ),
      ),
    ),
  }),
  v.description('The status of the trigger, written by the cluster.'),
);

const triggerSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('Trigger'), v.description('The kind of the object: Trigger.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description(
    'Trigger calls a function, or runs a workflow, for each thing that happens: a time, a request, a change of an object or of a ' +
      'file, the result of a function. Each is told at least once.',
  ),
);

export type Trigger = v.InferOutput<typeof triggerSchema>;

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
  schema: triggerSchema,
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
      description: 'What it watches for.',
      cell: (trigger) => sourceOf(trigger) ?? none,
    },
    {
      name: 'Target',
      type: 'string',
      description: 'What is called.',
      cell: ({ spec }) => `${spec.target.kind}/${spec.target.name}`,
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether events are taken and delivered.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    {
      name: 'Delivered',
      type: 'integer',
      description: 'How many events were delivered.',
      cell: ({ status }) => status?.delivered ?? 0,
    },
    {
      name: 'Dead',
      type: 'integer',
      description: 'How many dead letters there are.',
      cell: ({ status }) => status?.deadLetters ?? 0,
    },
    {
      name: 'Last',
      type: 'string',
      description: 'How long ago an event was delivered.',
      cell: ({ status }, now) => (status?.lastTime ? ageSince(status.lastTime, now) : none),
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
