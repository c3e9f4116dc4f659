/** Writes a line for each request to the debug log: of the URL only the part that names the resource. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { auditIdOf } from './audit-id.ts';
import { parseRequestInfo } from './request-info.ts';

export interface AnsweredRequest {
  readonly request: Pick<Request, 'method' | 'headers'>;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Undefined for an unauthenticated client. */
  readonly user: string | undefined;
  readonly status: number;
  /** Monotonic time in milliseconds at which the request arrived. */
  readonly began: number;
}

/** Logs a request. `ms` counts until the answer begins; a stream lasts longer. */
export function logRequest(
  { log, clock, random }: { log: Logger; clock: Clock; random: Random },
  { request, path, user, status, began }: AnsweredRequest,
): void {
  const { method } = request;
  const id = auditIdOf(request, random);
  const ms = Math.round((clock.monotonic() - began) * 10) / 10;
  log.debug('answered a request', { method, path: shownPath(path), user, status, ms, id });
}

const maxPathLength = 500;

/**
 * Returns the path without the part after `proxy` and `invoke`, which is a path of a user's program and may
 * contain a password or a token. The query is left out for the same reason: it contains the command of an
 * exec.
 */
export function shownPath(path: string): string {
  try {
    const info = parseRequestInfo(path);
    const rest = info.type === 'resource' ? info.rest : '';
    const named = rest === '' ? path : `${path.slice(0, path.length - rest.length)}/…`;
    return named.length > maxPathLength ? `${named.slice(0, maxPathLength)}…` : named;
  } catch {
    return '(not a path)';
  }
}
