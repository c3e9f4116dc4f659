/**
 * TriggerEvent: an event of a Trigger. It is deleted after its delivery; an event in phase Failed is a dead
 * letter.
 */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { maxChainLength } from './trigger-chain.ts';
import { triggerEventTypes } from './trigger-event-types.ts';
import type { TriggerEvent } from './types.gen.ts';

export type { TriggerEvent } from './types.gen.ts';

/** Maximum bytes of an event's data, as JSON. */
export const maxEventData = 256 * 1024;

/** Header of a call that delivers an event: the number of triggers in its chain. */
export const depthHeader = 'function-trigger-depth';
/**
 * Header of a call that delivers an event. It is set unless this is the last attempt: a failure is then not
 * the final result.
 */
export const retriedHeader = 'function-trigger-retried';
/** Maximum length of a chain of triggers in which each is caused by a call of the previous one. */
export const deepestEvent = 16;
const maxTextLength = 1024;

export const eventPhase = ({ spec, status }: TriggerEvent): 'Pending' | 'Failed' =>
  status?.phase === 'Failed' && spec.replays <= (status.replays ?? 0) ? 'Failed' : 'Pending';

function validate({ spec }: TriggerEvent): StatusCause[] {
  const causes = nameCauses('spec.trigger', spec.trigger, checkDns1123Label);
  for (const field of ['id', 'type', 'source', 'subject'] as const)
    if ((spec[field]?.length ?? 0) > maxTextLength) causes.push(tooLongCause(`spec.${field}`, maxTextLength));
  if (Number.isNaN(Date.parse(spec.time)))
    causes.push(invalidCause('spec.time', spec.time, 'must be a time of RFC 3339'));
  if (Buffer.byteLength(JSON.stringify(spec.data ?? null)) > maxEventData)
    causes.push(tooLongCause('spec.data', maxEventData));
  return [...causes, ...validateHistory(spec)];
}

function validateHistory({ depth, chain = [], replays }: TriggerEvent['spec']): StatusCause[] {
  const causes: StatusCause[] = [];
  if (depth < 0 || depth > deepestEvent + 1)
    causes.push(invalidCause('spec.depth', depth, `must be between 0 and ${deepestEvent + 1}, inclusive`));
  if (chain.length > maxChainLength || chain.some((name) => name.length > 200))
    causes.push(tooLongCause('spec.chain', maxChainLength));
  if (replays < 0) causes.push(invalidCause('spec.replays', replays, 'must be greater than or equal to 0'));
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
  types: triggerEventTypes,
  rules: {
    TriggerEvent: headRules('TriggerEvent'),
    TriggerEventSpec: { defaults: { depth: 0, replays: 0 } },
    TriggerEventStatus: { choices: { phase: ['Pending', 'Failed'] } },
  },
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
      description: 'The Trigger of the event.',
      cell: ({ spec }) => spec.trigger,
    },
    {
      name: 'Type',
      type: 'string',
      description: 'The type of the event.',
      cell: ({ spec }) => spec.type,
    },
    {
      name: 'Phase',
      type: 'string',
      description: 'Pending before the delivery, Failed for a dead letter.',
      cell: eventPhase,
    },
    {
      name: 'Attempts',
      type: 'integer',
      description: 'Number of attempts.',
      cell: ({ status }) => status?.attempts ?? 0,
    },
    {
      name: 'Error',
      type: 'string',
      priority: 1,
      description: 'Error of the last attempt.',
      cell: ({ status }) => status?.lastError ?? '',
    },
    ageColumn,
  ],
  selectableFields: { 'spec.trigger': ({ spec }) => spec.trigger },
  deleteAnswers: 'status',
};
