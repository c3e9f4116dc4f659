/**
 * Pauses of an evaluation. A plan is a tree of functions, which cannot stop halfway: to pause, the innermost
 * loop throws `paused`, and the evaluation is repeated later. Loops that were finished before have kept their
 * result, the others the round that they had reached, so that no round is evaluated twice. Expressions have
 * no effects, so a repeated part has the result that it had before.
 */
import type { Result } from '../values/value.ts';
import type { Run } from './run.ts';

/** Thrown by a loop to pause the evaluation. Not an Error, because its stack would never be read. */
export const paused: unique symbol = Symbol('paused');

/** Loops that a round of a loop, or the whole expression, reaches, in their order. */
export class Rounds {
  private readonly loops: LoopState[] = [];
  private at = 0;

  /** Returns the state of the next loop. */
  next(run: Run): LoopState {
    const known = this.loops[this.at++];
    if (known) {
      run.goOnFrom(known.cost, known.worked);
      known.inner.again();
      return known;
    }
    const made = new LoopState(run);
    this.loops.push(made);
    return made;
  }

  /** Begins again, with the loops as they are. */
  again(): void {
    this.at = 0;
  }

  clear(): void {
    this.at = 0;
    this.loops.length = 0;
  }
}

/** State of a loop between two rounds. */
export class LoopState {
  /** The result; undefined while there are rounds left. */
  result: Result | undefined;
  /** Number of rounds that are finished. */
  round = 0;
  /** Value of the accumulator after them; undefined before the first one. */
  accumulated: Result | undefined;
  /** Cost and work of the evaluation after them. */
  cost: number;
  worked: number;
  /** Loops in the round that is not finished. */
  readonly inner = new Rounds();

  constructor(run: Run) {
    this.cost = run.cost;
    this.worked = run.worked;
  }

  finishedRound(run: Run, accumulated: Result): void {
    this.round++;
    this.accumulated = accumulated;
    this.cost = run.cost;
    this.worked = run.worked;
    this.inner.clear();
  }

  finished(run: Run, result: Result): void {
    this.result = result;
    this.cost = run.cost;
    this.worked = run.worked;
  }
}
