/** Which events of a Trigger are delivered now, what is sent, and what becomes of one that cannot be delivered. Pure. */
import type { Trigger } from '../../api/minik8s/v1/trigger.ts';
import type { TriggerChain } from '../../api/minik8s/v1/trigger-chain.ts';
import { deepestEvent, eventPhase, type TriggerEvent } from '../../api/minik8s/v1/trigger-event.ts';
import { backoffMs } from '../../base/backoff.ts';
import { rfc3339 } from '../../base/time.ts';

/** How many events of one trigger are delivered at once. */
export const mostAtOnce = 10;
const longestError = 1024;

export interface DeliveryPlan {
  /** The oldest first. */
  readonly start: readonly TriggerEvent[];
  /** Due, and without a slot. */
  readonly waiting: number;
  /** Dead letters for which there is no room. */
  readonly discard: readonly TriggerEvent[];
  /** Milliseconds until the next one is due. */
  readonly again: number | undefined;
  readonly pending: number;
  readonly deadLetters: number;
}

export interface DeliveryFacts {
  readonly now: number;
  /** How many are under way. */
  readonly underWay: number;
  /** How many more there may be of all triggers together, and of those of the namespace. */
  readonly free: number;
  /** Being delivered, or what the cache shows of it is old. */
  readonly isBusy: (event: TriggerEvent) => boolean;
}

/** Times of RFC 3339 in whole seconds of UTC are compared as texts: a thousand events are looked at after each delivery. */
const byAge = ({ metadata: a }: TriggerEvent, { metadata: b }: TriggerEvent) => {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return Number(a.resourceVersion) - Number(b.resourceVersion);
};
const failedAt = ({ status }: TriggerEvent) => status?.failedTime ?? '';
const byFailure = (a: TriggerEvent, b: TriggerEvent) =>
  failedAt(a) === failedAt(b) ? byAge(a, b) : failedAt(a) < failedAt(b) ? -1 : 1;

export function planDeliveries(
  { spec }: Trigger,
  events: readonly TriggerEvent[],
  { now, underWay, free, isBusy }: DeliveryFacts,
): DeliveryPlan {
  const pending = events.filter((event) => eventPhase(event) === 'Pending');
  const dead = events.filter((event) => eventPhase(event) === 'Failed' && !isBusy(event));
  const surplus = Math.max(0, dead.length - spec.deadLetters.limit);
  const discard = surplus === 0 ? [] : dead.toSorted(byFailure).slice(0, surplus);
  const common = { discard, pending: pending.length, deadLetters: dead.length - surplus };
  if (spec.suspend) return { ...common, start: [], waiting: 0, again: undefined };
  const idle = pending.filter((event) => !isBusy(event));
  const nowText = rfc3339(now);
  // No pause is longer: a later time was told by another clock, or before this one was put back.
  const farthest = rfc3339(now + longestPauseMs(spec));
  const due: TriggerEvent[] = [];
  let next: string | undefined;
  for (const event of idle) {
    const at = dueAt(event);
    if (at <= nowText || at > farthest) due.push(event);
    else if (next === undefined || at < next) next = at;
  }
  const room = Math.max(0, Math.min(free, mostAtOnce - underWay));
  return {
    ...common,
    start: room === 0 ? [] : due.toSorted(byAge).slice(0, room),
    waiting: Math.max(0, due.length - room),
    again: next === undefined ? undefined : Date.parse(next) - now,
  };
}

const longestPauseMs = ({ retry }: Trigger['spec']): number =>
  Math.max(retry.minSeconds, retry.maxSeconds) * 1500 + 2000;

/** '' for at once. */
const dueAt = ({ status, spec }: TriggerEvent): string =>
  spec.replays > (status?.replays ?? 0) ? '' : (status?.nextTime ?? '');

/** A CloudEvent in its JSON form; `trigger` and `input` are beyond that. */
export function eventBody({ metadata, spec }: Trigger, event: TriggerEvent): Record<string, unknown> {
  const { id, type, source, subject, time, data } = event.spec;
  return {
    specversion: '1.0',
    id,
    type,
    source,
    ...(subject !== undefined && { subject }),
    time,
    datacontenttype: 'application/json',
    trigger: metadata.name,
    ...(data !== undefined && { data }),
    ...(spec.input !== undefined && { input: spec.input }),
  };
}

/** Why it is not even tried; undefined for one that is. */
export const whyNotTried = ({ spec }: TriggerEvent): string | undefined =>
  spec.depth > deepestEvent
    ? `it is the end of a chain of more than ${deepestEvent} triggers, each of what the one before called`
    : undefined;

export interface Failure {
  readonly error: string;
  /** Of HTTP; undefined where there was none. */
  readonly status?: number | undefined;
  /** Another attempt would not help. */
  readonly isFinal?: boolean;
}

/** What led to that which a delivery calls. */
export const chainAfter = ({ metadata }: Trigger, { spec }: TriggerEvent): TriggerChain => [
  ...(spec.chain ?? []),
  `${metadata.namespace}/${metadata.name}`,
];

/** How many attempts there are with the one that is made now, since it was set going. */
const attemptsOf = ({ spec: { replays }, status = {} }: TriggerEvent): number =>
  (replays > (status.replays ?? 0) ? 0 : (status.attempts ?? 0)) + 1;

/** Whether it is tried no more when the attempt that is made now fails. */
export const isLastAttempt = ({ spec }: Trigger, event: TriggerEvent): boolean =>
  attemptsOf(event) >= spec.retry.maxAttempts;

/** The status after a failed attempt. `chance` is a random number from 0 to 1, by which pauses are lengthened up to a half. */
export function afterFailure(
  trigger: Trigger,
  event: TriggerEvent,
  failure: Failure,
  now: number,
  chance: number,
): NonNullable<TriggerEvent['status']> & { readonly phase: 'Pending' | 'Failed' } {
  const attempts = attemptsOf(event);
  const { minSeconds, maxSeconds } = trigger.spec.retry;
  const common = {
    attempts,
    replays: event.spec.replays,
    lastError: failure.error.slice(0, longestError),
    ...(failure.status !== undefined && { lastStatus: failure.status }),
  };
  if (failure.isFinal || isLastAttempt(trigger, event))
    return { phase: 'Failed', ...common, failedTime: rfc3339(now) };
  const pause = backoffMs({ initialMs: minSeconds * 1000, maxMs: maxSeconds * 1000 }, attempts);
  return { phase: 'Pending', ...common, nextTime: rfc3339(now + pause * (1 + chance / 2) + 999) };
}
