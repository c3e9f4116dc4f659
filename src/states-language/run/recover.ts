/** Handles a failure: the state is retried, a catcher continues, or the machine fails. */

import type { Random } from '../../base/random.ts';
import type { Retrier, State } from '../definition/types.ts';
import { type Failure, matchesError, StateError } from '../failure.ts';
import { maxSeconds } from '../limits.ts';
import { caughtOutput } from './data.ts';
import type { Move } from './enter.ts';
import { Query } from './query.ts';
import { wayOf } from './state.ts';
import { detailOf, type Frame, type Turn } from './turn.ts';

/** Result of a recovery; undefined if the state is retried later and the branch waits for that. */
export type Recovered = { readonly move: Move } | { readonly failure: Failure } | undefined;

/** Recovers from a failure. `ofBranch` is true if the failure comes from a branch of this Parallel. */
export async function recover(
  turn: Turn,
  frame: Frame,
  state: State,
  failure: Failure,
  ofBranch: boolean,
): Promise<Recovered> {
  if (!('Retry' in state || 'Catch' in state)) return { failure };
  const { branch, prefix } = frame;
  const { Retry = [], Catch = [] } = state;
  const way = wayOf(prefix, branch);
  const index = Retry.findIndex(({ ErrorEquals }) => matchesError(ErrorEquals, failure, ofBranch));
  const retrier = Retry[index];
  const used = branch.retries?.[index] ?? 0;
  if (retrier !== undefined && used < (retrier.MaxAttempts ?? 3)) {
    const delay = delayOf(retrier, used, turn.ports.random);
    branch.retries = Retry.map((_, at) => (branch.retries?.[at] ?? 0) + (at === index ? 1 : 0));
    branch.wait = { for: 'retry', due: turn.ports.now + Math.round(delay * 1000) };
    turn.record('RetryScheduled', {
      state: branch.state,
      way,
      detail: { ...detailOf(failure), seconds: delay },
    });
    return undefined;
  }
  const catcher = Catch.find(({ ErrorEquals }) => matchesError(ErrorEquals, failure, ofBranch));
  if (catcher === undefined) return { failure };
  try {
    const output = await caughtOutput(new Query(turn, frame, state), frame, catcher, failure);
    turn.record('ErrorCaught', {
      state: branch.state,
      way,
      detail: { ...detailOf(failure), next: catcher.Next },
    });
    return { move: { output, next: catcher.Next } };
  } catch (error) {
    if (error instanceof StateError) return { failure: error.failure };
    throw error;
  }
}

/** Returns the seconds before the next attempt, if the retrier was used `used` times before. */
export function delayOf(retrier: Retrier, used: number, random: Random): number {
  const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = maxSeconds, JitterStrategy } = retrier;
  const delay = Math.min(IntervalSeconds * BackoffRate ** used, MaxDelaySeconds);
  return JitterStrategy === 'FULL' ? delay * random.next() : delay;
}
