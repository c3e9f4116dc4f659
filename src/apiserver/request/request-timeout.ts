/**
 * `?timeout=`: timeout of a request, set by the client (k8s.io/apiserver endpoints/filters
 * WithRequestDeadline).
 */
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import { parseDuration } from '../../base/time.ts';
import type { Subresource } from '../subresources/subresources.ts';

/** Maximum timeout in milliseconds (kube-apiserver's --request-timeout). */
const maxTimeoutMs = 60_000;

/**
 * Returns milliseconds; undefined if the client sets no timeout. Throws 400 for a value that is no duration.
 */
export function requestTimeout(query: URLSearchParams): number | undefined {
  const text = query.get('timeout');
  if (!text) return undefined;
  const ms = parseDuration(text.replace(/^[+-]/, ''));
  if (ms === undefined) {
    throw newBadRequest(
      `invalid timeout specified in the request URL - ${JSON.stringify(text.slice(0, 64))} is not a duration such as 30s`,
    );
  }
  // Zero and negative values mean that the client sets no timeout.
  return ms > 0 && !text.startsWith('-') ? Math.min(ms, maxTimeoutMs) : undefined;
}

/**
 * Returns the answer of `work`, or throws a 504 after `ms`. The signal then stops the work; a late answer is
 * discarded.
 */
export async function answerWithin(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(ms, () => {
    const error = newStatusError('Timeout', 'request did not complete within the allotted timeout');
    late.abort(error);
    reject(error);
  });
  const working = work(late.signal);
  try {
    return await Promise.race([working, promise]);
  } catch (error) {
    working.then((response) => response.body?.cancel()).catch(() => undefined);
    throw error;
  } finally {
    timer.cancel();
  }
}

/**
 * Returns whether `timeout` does not apply: to long-running requests, and where the parameter is for a
 * backend.
 */
export const isLongRunning = (verb: string, subresource: Pick<Subresource, 'longRunning'> | undefined) =>
  verb === 'watch' || subresource?.longRunning !== undefined;
