/**
 * Interface of a Trigger's source, with a class for each kind: times, objects, files, requests and results.
 */
import type { ObjectKey } from '../../../apimachinery/meta.ts';
import type { Trigger } from '../api/trigger.ts';
import type { Position, Problem } from './status-plan.ts';

/** Report of a source for one trigger, which is written into the trigger's status. */
export interface SourceReport {
  readonly position?: Position | undefined;
  readonly problem?: Problem | undefined;
  /** Milliseconds after which the source must be read again. */
  readonly again?: number | undefined;
  /** Additional message for a ready trigger. */
  readonly detail?: string | undefined;
  /** True if another part of the source, such as the agent of a node, waits until events may be stored. */
  readonly waits?: boolean;
  /** Progress of a source that follows a history of changes. */
  readonly progress?: Progress | undefined;
}

/** Progress of a source in a history of changes, most of which do not concern its trigger. */
export interface Progress {
  /** True if an occurrence was reported since this was set to false. */
  hasReported: boolean;
  /** Description of changes that may not have been reported. */
  readonly missed: string | undefined;
}

/** One reading of a source: the trigger, and the position up to which its occurrences are recorded. */
export interface Reading {
  readonly key: ObjectKey;
  readonly trigger: Trigger;
  readonly position: Position;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Aborts the work of the source that continues after the reading. */
  readonly signal: AbortSignal;
}

export interface Source {
  /**
   * Records the trigger's occurrences, at once or when they happen, and returns its position and problems.
   */
  report(reading: Reading): SourceReport | Promise<SourceReport>;
  /** Ends the work that an earlier reading of the trigger began; sources without such work omit it. */
  stop?(key: ObjectKey): void | Promise<void>;
}
