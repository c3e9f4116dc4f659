/** Plans the status of a Trigger. Pure. */

import { findCondition, timedCondition } from '../../../apimachinery/conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Trigger } from '../api/trigger.ts';
import { maxPending } from '../api/trigger-event-draft.ts';

export type TriggerStatus = NonNullable<Trigger['status']>;
export type Position = NonNullable<TriggerStatus['position']>;

/** Reason why a trigger does nothing, or only part of its work. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Counts since the last write of the status. */
export interface Counts {
  delivered: number;
  failed: number;
  discarded: number;
  /** Time of the last event in RFC 3339. */
  lastTime?: string | undefined;
}

export const noCounts = (): Counts => ({ delivered: 0, failed: 0, discarded: 0 });

export interface StatusFacts {
  readonly counts: Counts;
  readonly pending: number;
  readonly deadLetters: number;
  readonly position: Position | undefined;
  readonly problem: Problem | undefined;
  /** True if the source waits for room. */
  readonly waits: boolean;
  /** Additional message for a ready trigger. */
  readonly detail?: string | undefined;
  /** Description of changes that may not have been reported. */
  readonly missed: string | undefined;
  readonly timestamp: string;
}

function conditionsOf(status: TriggerStatus, facts: StatusFacts) {
  const { problem, waits, detail } = facts;
  const ready = problem
    ? ({ status: 'False', ...problem } as const)
    : ({ status: 'True', reason: 'Active', message: activeMessage(detail) } as const);
  const missed = missedEvents(status, facts);
  return [
    { type: 'Ready', ...ready },
    ...(waits ? [{ type: 'Backlogged', ...backlogged }] : []),
    ...(missed === undefined ? [] : [missed]),
  ];
}

/** Returns the condition of missed events. It stays as long as the trigger has the same source. */
function missedEvents(status: TriggerStatus, { missed, position }: StatusFacts) {
  const isSameSource = position !== undefined && position.of === status.position?.of;
  const known = isSameSource ? findCondition(status.conditions ?? [], 'EventsMissed')?.message : undefined;
  const message = missed ?? known;
  if (message === undefined) return undefined;
  return { type: 'EventsMissed', status: 'True', reason: 'HistoryTooOld', message } as const;
}

export function planStatus({ metadata, status = {} }: Trigger, facts: StatusFacts): TriggerStatus {
  const { counts, timestamp, pending, deadLetters, position } = facts;
  const before = status.conditions ?? [];
  const conditions = conditionsOf(status, facts).map((one) => timedCondition(before, one, timestamp));
  const lastTime = counts.lastTime ?? status.lastTime;
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    delivered: (status.delivered ?? 0) + counts.delivered,
    failed: (status.failed ?? 0) + counts.failed,
    discarded: (status.discarded ?? 0) + counts.discarded,
    pending,
    deadLetters,
    ...(lastTime !== undefined && { lastTime }),
    ...(position && { position }),
    conditions,
  };
}

const activeMessage = (detail: string | undefined) =>
  `events are recorded and delivered${detail === undefined ? '' : `; ${detail}`}`;

const backlogged = {
  status: 'True',
  reason: 'TooManyPending',
  message: `${maxPending} events wait to be delivered; more are recorded when there is room`,
} as const;

/**
 * Returns the position from which the source that `of` identifies reports: the position in the status if it
 * is of this source, else a new one; undefined for a suspended trigger.
 */
export function positionOf(
  { metadata, spec, status }: Trigger,
  of: string,
  timestamp: string,
): Position | undefined {
  if (spec.suspend) return undefined;
  if (status?.position?.of === of) return status.position;
  // A new trigger reports from its creation on, a changed one from its change on.
  const since = status?.observedGeneration === undefined ? metadata.creationTimestamp : timestamp;
  const isOfObjects = spec.object !== undefined;
  return {
    of,
    since,
    ...(isOfObjects && { resourceVersion: metadata.resourceVersion, resourceTime: since }),
  };
}

/** Minimum milliseconds between two writes of the counts and of a source's position. */
const writeEvery = 1000;
/**
 * Minimum milliseconds between two writes of the position of a source without events. It is well below the
 * time after which the store discards its history.
 */
const markEvery = 120_000;

/**
 * Returns the minimum milliseconds between the last write of the status and a write of `after`. `hasReported`
 * is false for a source that follows a history and has reported nothing since the last write; undefined for a
 * source that does not follow a history.
 */
export function writeInterval(
  before: TriggerStatus | undefined,
  after: TriggerStatus,
  hasReported: boolean | undefined,
): number {
  if (hasReported === false && isOnlyMark(before, after)) return markEvery;
  // A due time that is not recorded would be reported again.
  return after.position?.lastScheduleTime === before?.position?.lastScheduleTime ? writeEvery : 0;
}

/** Returns true if only the position in the history has changed. */
function isOnlyMark(before: TriggerStatus | undefined, after: TriggerStatus): boolean {
  const without = ({ position, ...rest }: TriggerStatus) => ({ ...rest, position: position?.of });
  return before !== undefined && deepEqual(without(after), without(before));
}
