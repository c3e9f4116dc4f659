/** Plans the status of a Trigger. Pure. */

import { findCondition, timedCondition } from '../../../controller-runtime/conditions.ts';
import type { Trigger } from '../api/trigger.ts';
import { mostPending } from '../api/trigger-event-draft.ts';

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

export function planStatus({ metadata, status = {} }: Trigger, facts: StatusFacts): TriggerStatus {
  const { counts, problem, timestamp, pending, deadLetters, position } = facts;
  const before = status.conditions ?? [];
  const ready = problem
    ? ({ status: 'False', ...problem } as const)
    : ({ status: 'True', reason: 'Active', message: activeMessage(facts.detail) } as const);
  const isSameSource = position !== undefined && position.of === status.position?.of;
  const known = isSameSource ? findCondition(before, 'EventsMissed')?.message : undefined;
  const missed = facts.missed ?? known;
  const conditions = [
    timedCondition(before, { type: 'Ready', ...ready }, timestamp),
    ...(facts.waits ? [timedCondition(before, { type: 'Backlogged', ...backlogged }, timestamp)] : []),
    ...(missed === undefined
      ? []
      : [
          timedCondition(
            before,
            { type: 'EventsMissed', status: 'True', reason: 'HistoryTooOld', message: missed },
            timestamp,
          ),
        ]),
  ];
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
  `events are taken and delivered${detail === undefined ? '' : `; ${detail}`}`;

const backlogged = {
  status: 'True',
  reason: 'TooManyPending',
  message: `${mostPending} events wait to be delivered, and more are taken when there is room`,
} as const;

/**
 * Returns the position from which a source reports if the status has none for it yet; undefined for a
 * suspended trigger.
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
