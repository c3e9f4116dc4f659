/**
 * Decides which events of a Trigger are delivered now, and computes the sent body and the status after a
 * failed delivery. Pure.
 */

import { backoffMs } from '../../../base/backoff.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Trigger } from '../api/trigger.ts';
import type { TriggerChain } from '../api/trigger-chain.ts';
import { deepestEvent, eventPhase, type TriggerEvent } from '../api/trigger-event.ts';

/** Maximum number of concurrent deliveries of one trigger. */
export const maxAtOnce = 10;
const maxErrorLength = 1024;

export interface DeliveryPlan {
  /** Events to deliver now, the oldest first. */
  readonly start: readonly TriggerEvent[];
  /** Number of due events without a slot. */
  readonly waiting: number;
  /** Dead letters beyond the limit. */
  readonly discard: readonly TriggerEvent[];
  /** Milliseconds until the next event is due. */
  readonly again: number | undefined;
  readonly pending: number;
  readonly deadLetters: number;
}

export interface DeliveryFacts {
  readonly now: number;
  /** Number of running deliveries of this trigger. */
  readonly underWay: number;
  /** Number of further deliveries that the limits of all triggers and of the namespace allow. */
  readonly free: number;
  /** Returns true if the event is being delivered or its cached state is outdated. */
  readonly isBusy: (event: TriggerEvent) => boolean;
}

/**
 * Orders events by age. RFC 3339 times in whole seconds of UTC are compared as texts for speed: a thousand
 * events are compared after each delivery.
 */
const byAge = ({ metadata: a }: TriggerEvent, { metadata: b }: TriggerEvent) => {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return Number(a.resourceVersion) - Number(b.resourceVersion);
};
const failedAt = ({ status }: TriggerEvent) => status?.failedTime ?? '';
const byFailure = (a: TriggerEvent, b: TriggerEvent) =>
  failedAt(a) === failedAt(b) ? byAge(a, b) : failedAt(a) < failedAt(b) ? -1 : 1;

/**
 * Returns the events that are due, and the time of the next one. An event whose time is more than `maxMs`
 * ahead is due too: no pause is that long, so another clock wrote the time, or this clock was set back since.
 */
function sortByTime(events: readonly TriggerEvent[], now: number, maxMs: number) {
  const nowText = rfc3339(now);
  const farthest = rfc3339(now + maxMs);
  const due: TriggerEvent[] = [];
  let next: string | undefined;
  for (const event of events) {
    const at = dueAt(event);
    if (at <= nowText || at > farthest) due.push(event);
    else if (next === undefined || at < next) next = at;
  }
  return { due, next };
}

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
  const { due, next } = sortByTime(idle, now, maxPauseMs(spec));
  const room = Math.max(0, Math.min(free, maxAtOnce - underWay));
  return {
    ...common,
    start: room === 0 ? [] : due.toSorted(byAge).slice(0, room),
    waiting: Math.max(0, due.length - room),
    again: next === undefined ? undefined : Date.parse(next) - now,
  };
}

const maxPauseMs = ({ retry }: Trigger['spec']): number =>
  Math.max(retry.minSeconds, retry.maxSeconds) * 1500 + 2000;

/** Returns the time at which the event is due; '' for at once. */
const dueAt = ({ status, spec }: TriggerEvent): string =>
  spec.replays > (status?.replays ?? 0) ? '' : (status?.nextTime ?? '');

/** Returns a CloudEvent in its JSON form; `trigger` and `input` are additional fields. */
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

/** Returns the reason why the event is not delivered at all, or undefined if it is. */
export const whyNotTried = ({ spec }: TriggerEvent): string | undefined =>
  spec.depth > deepestEvent
    ? `it is the end of a chain of more than ${deepestEvent} triggers, each caused by the one before`
    : undefined;

export interface Failure {
  readonly error: string;
  /** HTTP status; undefined if there was no answer. */
  readonly status?: number | undefined;
  /** True if a retry would not help. */
  readonly isFinal?: boolean;
}

/** Returns the chain of triggers that led to the target of this delivery. */
export const chainAfter = ({ metadata }: Trigger, { spec }: TriggerEvent): TriggerChain => [
  ...(spec.chain ?? []),
  `${metadata.namespace}/${metadata.name}`,
];

/** Returns the number of attempts including the current one, since the event was created or replayed. */
const attemptsOf = ({ spec: { replays }, status = {} }: TriggerEvent): number =>
  (replays > (status.replays ?? 0) ? 0 : (status.attempts ?? 0)) + 1;

/** Returns true if there is no retry after the current attempt. */
export const isLastAttempt = ({ spec }: Trigger, event: TriggerEvent): boolean =>
  attemptsOf(event) >= spec.retry.maxAttempts;

/**
 * Returns the status after a failed attempt. `chance` is a random number from 0 to 1 that lengthens the pause
 * by up to a half.
 */
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
    lastError: failure.error.slice(0, maxErrorLength),
    ...(failure.status !== undefined && { lastStatus: failure.status }),
  };
  if (failure.isFinal || isLastAttempt(trigger, event))
    return { phase: 'Failed', ...common, failedTime: rfc3339(now) };
  const pause = backoffMs({ initialMs: minSeconds * 1000, maxMs: maxSeconds * 1000 }, attempts);
  return { phase: 'Pending', ...common, nextTime: rfc3339(now + pause * (1 + chance / 2) + 999) };
}
