/** The TriggerEvent for something that has happened. The same thing gives the same name, so it is stored once. Pure. */
import type { Draft, OwnerReference } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { type Trigger, triggerResource } from './trigger.ts';
import { mostEventData, type TriggerEvent } from './trigger-event.ts';

/** Label: name of the Trigger. */
export const triggerLabel = 'minik8s.io/trigger';

/** Of a text, in hex; equal texts have equal ones, and nobody finds two others. */
export type Digest = (text: string) => string;

export interface Happening {
  /** What tells it from everything else that the trigger may tell. */
  readonly key: readonly string[];
  readonly type: string;
  readonly source: string;
  readonly subject?: string;
  /** RFC 3339. */
  readonly time: string;
  readonly data?: unknown;
  /** Stands for the data where they are too large. */
  readonly lessData?: unknown;
  /** How many events are before it in a chain of results. */
  readonly depth?: number;
}

const idDigits = 32;
const nameDigits = 16;

/** The name of the event with an id. */
export const eventName = (trigger: string, id: string) => `${trigger}-${id.slice(0, nameDigits)}`;

const mostSubject = 1024;

/** Of a Trigger, which is all that its events have of it. */
export interface TriggerRef {
  readonly metadata: Pick<Trigger['metadata'], 'name' | 'namespace' | 'uid'>;
}

export function eventDraft(trigger: TriggerRef, happening: Happening, digest: Digest): Draft<TriggerEvent> {
  const { key, type, source, subject, time, data, lessData, depth = 0 } = happening;
  const { name, namespace, uid } = trigger.metadata;
  const id = digest(JSON.stringify([uid, ...key])).slice(0, idDigits);
  const isTooLarge = data !== undefined && Buffer.byteLength(JSON.stringify(data)) > mostEventData;
  return {
    apiVersion: 'minik8s.io/v1',
    kind: 'TriggerEvent',
    metadata: {
      name: eventName(name, id),
      namespace,
      labels: { [triggerLabel]: name },
      ownerReferences: [triggerReference(trigger)],
    },
    spec: {
      trigger: name,
      id,
      type,
      source,
      ...(subject !== undefined && { subject: subject.slice(0, mostSubject) }),
      time,
      ...(data !== undefined && { data: isTooLarge ? lessData : data }),
      depth,
      replays: 0,
    },
  };
}

/** To the trigger, from what goes with it. */
export const triggerReference = ({ metadata: { name, uid } }: TriggerRef): OwnerReference => ({
  apiVersion: apiVersionOf(triggerResource),
  kind: triggerResource.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** How many events of a trigger may wait to be delivered. */
export const mostPending = 1000;
