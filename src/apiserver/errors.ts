/** Converts any error of a request to a Status for the client. */
import { newInternalError, newStatusError, StatusError } from '../apimachinery/status-error.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import {
  ClaimLostError,
  CompactedError,
  StoreRejectedError,
  StoreUnavailableError,
  ValueTooLargeError,
} from '../storage/store.ts';
import { auditIdOf } from './request/audit-id.ts';
import { shownPath } from './request/request-log.ts';
import type { AskedRequest } from './transport/asked-request.ts';

/** The client has disconnected before the answer (nginx's 499). */
const clientGone = newStatusError('Timeout', 'the client went away before the answer');

/**
 * Converts an error. An error of the server itself is logged once, and its answer contains no internal
 * details.
 */
export function toStatusError(
  error: unknown,
  request: AskedRequest,
  { log, random }: { readonly log: Logger; readonly random: Random },
): StatusError {
  if (error instanceof StatusError) return error;
  if (request.signal.aborted) return clientGone;
  const line = {
    method: request.method,
    path: shownPath(URL.parse(request.url)?.pathname ?? ''),
    id: auditIdOf(request, random),
    error: errorMessage(error),
  };
  if (error instanceof StoreUnavailableError) {
    log.warn('etcd did not answer', line);
    return storeUnavailable(request.method, error);
  }
  if (error instanceof ValueTooLargeError) {
    return newStatusError(
      'RequestEntityTooLarge',
      'Request entity too large: the object is larger than etcd accepts (--max-request-bytes)',
    );
  }
  if (error instanceof StoreRejectedError) {
    log.warn('etcd refused a request', line);
    return newInternalError(`etcd refused the request: ${errorMessage(error)}`);
  }
  if (error instanceof ClaimLostError) {
    return newStatusError(
      'Conflict',
      `the caller is no longer the leader, and nothing was changed: ${error.message}`,
    );
  }
  if (error instanceof CompactedError) {
    return newStatusError('Expired', 'the requested resource version is too old: list again');
  }
  log.error('a request failed', { ...line, stack: error instanceof Error ? error.stack : undefined });
  return newInternalError('the server failed to handle the request; see the log of the server');
}

/**
 * Returns the answer to a request that the store did not answer. A read may be retried; after a write the
 * caller must first read whether it happened. Neither answer has a retry time: client-go would then send the
 * same request ten times over, a write too, and report nothing meanwhile.
 */
function storeUnavailable(method: string, { trouble }: StoreUnavailableError): StatusError {
  const why = trouble ? `; ${trouble}` : '';
  if (method === 'GET' || method === 'HEAD') {
    return newStatusError(
      'ServiceUnavailable',
      trouble ? `etcd is not reachable${why}` : 'etcd is not reachable; try again in a moment',
    );
  }
  return newStatusError(
    'Timeout',
    `etcd did not answer in time: it is not known whether the change was made${why}`,
  );
}
