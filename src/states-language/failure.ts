/** Errors as the States Language has them: a name that Retry and Catch look for, and a text for people. */

import { mostCause, mostErrorName } from './limits.ts';

export interface Failure {
  readonly error: string;
  readonly cause: string;
}

/** The names that the language itself has; every other name that begins with `States.` is refused. */
export const errorNames = [
  'States.ALL',
  'States.BranchFailed',
  'States.DataLimitExceeded',
  'States.ExceedToleratedFailureThreshold',
  'States.HeartbeatTimeout',
  'States.Http.Socket',
  'States.IntrinsicFailure',
  'States.ItemReaderFailed',
  'States.NoChoiceMatched',
  'States.ParameterPathFailure',
  'States.Permissions',
  'States.QueryEvaluationError',
  'States.ResultPathMatchFailure',
  'States.ResultWriterFailed',
  'States.Runtime',
  'States.TaskFailed',
  'States.Timeout',
] as const;

export type ErrorName = Exclude<(typeof errorNames)[number], 'States.ALL'>;

/** Whoever is asked may say more than a run has room for. */
export const failureOf = (error: string, cause: string): Failure => ({
  error: error.slice(0, mostErrorName),
  cause: cause.slice(0, mostCause),
});

/** Thrown where a state fails; what runs the state turns it into a retry, a catch, or the end of the run. */
export class StateError extends Error {
  readonly failure: Failure;
  constructor(error: string, cause: string) {
    const failure = failureOf(error, cause);
    super(`${failure.error}: ${failure.cause}`);
    this.failure = failure;
  }
}

export const stateError = (error: ErrorName, cause: string) => new StateError(error, cause);

/**
 * Whether a retrier or catcher that names these errors is about the failure. `ofBranch`: it comes from a branch of the
 * Parallel that is asked. States.Runtime cannot be caught at all, and States.DataLimitExceeded only by its own name.
 */
export function matchesError(names: readonly string[], { error }: Failure, ofBranch = false): boolean {
  if (error === 'States.Runtime') return false;
  return names.some((name) => {
    if (name === error) return true;
    if (error === 'States.DataLimitExceeded') return false;
    if (name === 'States.ALL') return true;
    const timeout = error === 'States.Timeout' || error === 'States.HeartbeatTimeout';
    if (name === 'States.Timeout') return timeout;
    if (name === 'States.TaskFailed') return !timeout;
    return name === 'States.BranchFailed' && ofBranch;
  });
}
