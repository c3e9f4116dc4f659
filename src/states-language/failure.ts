/** An error of the States Language: a name that Retry and Catch match, and a text for users. */

import { maxCause, maxErrorName } from './limits.ts';

export interface Failure {
  readonly error: string;
  readonly cause: string;
}

/** Error names of the language itself; other names that begin with `States.` are rejected. */
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

/**
 * Returns a failure with truncated texts, because external services may return more than a run has room for.
 */
export const failureOf = (error: string, cause: string): Failure => ({
  error: error.slice(0, maxErrorName),
  cause: cause.slice(0, maxCause),
});

/** Thrown when a state fails; the interpreter turns it into a retry, a catch, or the end of the run. */
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
 * Returns true if a retrier or catcher with these error names matches the failure. `ofBranch` is true if the
 * failure comes from a branch of this Parallel. States.Runtime is never matched, and States.DataLimitExceeded
 * only by its own name.
 */
export function matchesError(names: readonly string[], { error }: Failure, ofBranch = false): boolean {
  if (error === 'States.Runtime') return false;
  if (names.includes(error)) return true;
  if (error === 'States.DataLimitExceeded') return false;
  const isTimeout = error === 'States.Timeout' || error === 'States.HeartbeatTimeout';
  const wide = ['States.ALL', isTimeout ? 'States.Timeout' : 'States.TaskFailed'];
  if (ofBranch) wide.push('States.BranchFailed');
  return names.some((name) => wide.includes(name));
}
