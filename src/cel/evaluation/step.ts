/** A part of a plan, and what it works on. */
import type { Expression } from '../syntax/tree.ts';
import type { Result } from '../values/value.ts';
import type { Rounds } from './rounds.ts';
import type { Run } from './run.ts';

/** One evaluation: its cost, its variables as given, and slots for converted variables and those of loops. */
export interface Frame {
  readonly run: Run;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly slots: Result[];
  /** The loops that were reached; present in an evaluation that can pause. */
  rounds?: Rounds | undefined;
}

export type Step = (frame: Frame) => Result;

/** Maker of plans, for the planners of one kind of node. */
export interface Plans {
  /**
   * Plans a node. Upstream does not count the variable of a path that is an index or a branch of a
   * conditional: such a node is planned with `charged` false.
   */
  plan(node: Expression, charged?: boolean): Step;
  /** Makes a slot for a variable of a loop. The name refers to it until the slot is closed. */
  open(name: string): number;
  close(name: string): void;
}
