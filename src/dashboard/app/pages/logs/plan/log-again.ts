/** Decides whether a log whose request has failed is requested again. Pure. */

export interface FailedRead {
  /** Status of the server's own answer; undefined if the connection broke. */
  readonly status: number | undefined;
  /** True if the log was read before. */
  readonly wasRead: boolean;
  /** True if the log is followed and its container runs. */
  readonly isEndless: boolean;
}

const unauthorized = 401;

/**
 * Returns true if the answer may be another one later. A node that starts again does not know its containers
 * at first (404, 400), although it sent their logs before. After 401 the session has ended.
 */
export function isRequestedAgain({ status, wasRead, isEndless }: FailedRead): boolean {
  if (status === undefined) return true;
  return isEndless && status !== unauthorized && (status >= 500 || wasRead);
}
