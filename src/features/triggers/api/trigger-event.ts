/**
 * TriggerEvent: an event of a Trigger. It is deleted after its delivery; an event in phase Failed is a dead
 * letter.
 */
import * as v from 'valibot';
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { int32, objectMetaSchema, struct, time } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { longestChain } from './trigger-chain.ts';

const text = v.description<string, string>;

/** Maximum bytes of an event's data, as JSON. */
export const mostEventData = 256 * 1024;

/** Header of a call that delivers an event: the number of triggers in its chain. */
export const depthHeader = 'function-trigger-depth';
/**
 * Header of a call that delivers an event: a failed delivery is retried, so that the failure is not the final
 * result.
 */
export const retriedHeader = 'function-trigger-retried';
/** Maximum length of a chain of triggers in which each is caused by a call of the previous one. */
export const deepestEvent = 16;
const longestText = 1024;

const specSchema = v.pipe(
  struct({
    trigger: v.pipe(v.string(), text('Name of the Trigger.')),
    id: v.pipe(v.string(), text('The same for the same event, however often it is delivered.')),
    type: v.pipe(v.string(), text('What has happened, such as minik8s.io/object.created.')),
    source: v.pipe(v.string(), text('Of what, as a path.')),
    subject: v.optional(v.pipe(v.string(), text('Which of it, such as the name of an object.'))),
    time: v.pipe(time(), text('When.')),
    data: v.optional(v.pipe(v.unknown(), v.description('More about it, any JSON of at most 256 KiB.'))),
    depth: v.optional(
      v.pipe(
        int32(),
        v.description('How many events are before this one in a chain of triggers. At most 16.'),
      ),
      0,
    ),
    chain: v.optional(
      v.pipe(
        v.array(v.string()),
        v.description('NAMESPACE/NAME of each trigger that has led to it, the first one first.'),
      ),
    ),
    replays: v.optional(
      v.pipe(
        int32(),
        v.description(
          'How often it is to be set going again: a number above status.replays begins a dead letter anew.',
        ),
      ),
      0,
    ),
  }),
  v.description('What has happened. Nothing but replays can be changed.'),
);

const statusSchema = v.pipe(
  struct({
    phase: v.optional(
      v.pipe(
        v.picklist(['Pending', 'Failed']),
        v.description('Pending while it is to be delivered, Failed when it is given up.'),
      ),
    ),
    attempts: v.optional(v.pipe(int32(), v.description('How often it was tried since it was set going.'))),
    nextTime: v.optional(v.pipe(time(), v.description('When it is tried again.'))),
    lastError: v.optional(v.pipe(v.string(), text('Why the last attempt failed.'))),
    lastStatus: v.optional(v.pipe(int32(), v.description('The HTTP status of the last attempt.'))),
    failedTime: v.optional(v.pipe(time(), v.description('When it was given up.'))),
    replays: v.optional(v.pipe(int32(), v.description('How often it was set going again.'))),
  }),
  v.description('How its delivery goes, written by the cluster.'),
);

const triggerEventSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('TriggerEvent'), v.description('The kind of the object: TriggerEvent.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description('TriggerEvent is one thing that a Trigger tells. It goes when it is delivered.'),
);

export type TriggerEvent = v.InferOutput<typeof triggerEventSchema>;

export const eventPhase = ({ spec, status }: TriggerEvent): 'Pending' | 'Failed' =>
  status?.phase === 'Failed' && spec.replays <= (status.replays ?? 0) ? 'Failed' : 'Pending';

function validate({ spec }: TriggerEvent): StatusCause[] {
  const causes = nameCauses('spec.trigger', spec.trigger, checkDns1123Label);
  for (const field of ['id', 'type', 'source', 'subject'] as const)
    if ((spec[field]?.length ?? 0) > longestText) causes.push(tooLongCause(`spec.${field}`, longestText));
  if (Number.isNaN(Date.parse(spec.time)))
    causes.push(invalidCause('spec.time', spec.time, 'must be a time of RFC 3339'));
  if (Buffer.byteLength(JSON.stringify(spec.data ?? null)) > mostEventData)
    causes.push(tooLongCause('spec.data', mostEventData));
  if (spec.depth < 0 || spec.depth > deepestEvent + 1)
    causes.push(
      invalidCause('spec.depth', spec.depth, `must be between 0 and ${deepestEvent + 1}, inclusive`),
    );
  if ((spec.chain?.length ?? 0) > longestChain || spec.chain?.some((name) => name.length > 200))
    causes.push(tooLongCause('spec.chain', longestChain));
  if (spec.replays < 0)
    causes.push(invalidCause('spec.replays', spec.replays, 'must be greater than or equal to 0'));
  return causes;
}

export const triggerEventResource: ResourceDefinition<TriggerEvent> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'TriggerEvent',
  plural: 'triggerevents',
  singular: 'triggerevent',
  shortNames: ['trev'],
  categories: [],
  namespaced: true,
  typeName: 'TriggerEvent',
  schema: triggerEventSchema,
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate,
    validateUpdate: ({ spec }, old) =>
      deepEqual({ ...spec, replays: 0 }, { ...old.spec, replays: 0 })
        ? []
        : [forbiddenCause('spec', 'nothing but replays can be changed')],
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Trigger',
      type: 'string',
      description: 'The Trigger that tells it.',
      cell: ({ spec }) => spec.trigger,
    },
    {
      name: 'Type',
      type: 'string',
      description: 'What has happened.',
      cell: ({ spec }) => spec.type,
    },
    {
      name: 'Phase',
      type: 'string',
      description: 'Pending while it is to be delivered, Failed for a dead letter.',
      cell: eventPhase,
    },
    {
      name: 'Attempts',
      type: 'integer',
      description: 'How often it was tried.',
      cell: ({ status }) => status?.attempts ?? 0,
    },
    {
      name: 'Error',
      type: 'string',
      priority: 1,
      description: 'Why the last attempt failed.',
      cell: ({ status }) => status?.lastError ?? '',
    },
    ageColumn,
  ],
  selectableFields: { 'spec.trigger': ({ spec }) => spec.trigger },
  deleteAnswers: 'status',
};
