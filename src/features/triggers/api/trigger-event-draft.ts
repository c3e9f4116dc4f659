/**
 * Creates the TriggerEvent of an occurrence. Equal occurrences get equal names, so that each is stored once.
 * Pure.
 */
import type { Draft, OwnerReference } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { type Trigger, triggerResource } from './trigger.ts';
import type { TriggerChain } from './trigger-chain.ts';
import { maxEventData, type TriggerEvent } from './trigger-event.ts';

/** Label with the name of the Trigger. */
export const triggerLabel = 'minik8s.io/trigger';

/** Cryptographic hash of a text, in hex: equal for equal texts, and free of collisions in practice. */
export type Digest = (text: string) => string;

export interface Happening {
  /** Identifies the occurrence among all occurrences of the trigger. */
  readonly key: readonly string[];
  readonly type: string;
  readonly source: string;
  readonly subject?: string;
  /** Time in RFC 3339. */
  readonly time: string;
  readonly data?: unknown;
  /** Replaces the data if they are too large. */
  readonly lessData?: unknown;
  /** Number of preceding events in a chain of triggers. */
  readonly depth?: number;
  /** Triggers that have led to the occurrence. */
  readonly chain?: TriggerChain;
}

const idDigits = 32;
const nameDigits = 16;

/** Returns the name of the event with an id. */
export const eventName = (trigger: string, id: string) => `${trigger}-${id.slice(0, nameDigits)}`;

const maxSubject = 1024;

/** The fields of a Trigger that its events use. */
export interface TriggerRef {
  readonly metadata: Pick<Trigger['metadata'], 'name' | 'namespace' | 'uid'>;
}

export function eventDraft(trigger: TriggerRef, happening: Happening, digest: Digest): Draft<TriggerEvent> {
  const { key, type, source, subject, time, data, lessData, depth = 0, chain = [] } = happening;
  const { name, namespace, uid } = trigger.metadata;
  const id = digest(JSON.stringify([uid, ...key])).slice(0, idDigits);
  const isTooLarge = data !== undefined && Buffer.byteLength(JSON.stringify(data)) > maxEventData;
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
      ...(subject !== undefined && { subject: subject.slice(0, maxSubject) }),
      time,
      ...(data !== undefined && { data: isTooLarge ? lessData : data }),
      depth,
      ...(chain.length > 0 && { chain: [...chain] }),
      replays: 0,
    },
  };
}

/** Returns an owner reference to the trigger, for objects that are deleted with it. */
export const triggerReference = ({ metadata: { name, uid } }: TriggerRef): OwnerReference => ({
  apiVersion: apiVersionOf(triggerResource),
  kind: triggerResource.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** Maximum events of a trigger that wait for delivery. */
export const maxPending = 1000;
