/** A line for each request, where the log has lines of debug: never more of a URL than names what was asked for. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { auditIdOf } from './audit-id.ts';
import { parseRequestInfo } from './request-info.ts';

export interface AnsweredRequest {
  readonly request: Pick<Request, 'method' | 'headers'>;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Undefined for one who is not known. */
  readonly user: string | undefined;
  readonly status: number;
  /** Monotonic, in milliseconds: when the request came. */
  readonly began: number;
}

/** `ms` counts until the answer begins: what streams goes on. */
export function logRequest(
  { log, clock, random }: { log: Logger; clock: Clock; random: Random },
  { request, path, user, status, began }: AnsweredRequest,
): void {
  const { method } = request;
  const id = auditIdOf(request, random);
  const ms = Math.round((clock.monotonic() - began) * 10) / 10;
  log.debug('answered a request', { method, path: shownPath(path), user, status, ms, id });
}

const longestPath = 500;

/**
 * Without what stands behind `proxy` and `invoke`: that is a path of somebody's program, which may have a password or a token in it. The
 * query is left out for the same reason: it has the words of an exec.
 */
export function shownPath(path: string): string {
  try {
    const info = parseRequestInfo(path);
    const rest = info.type === 'resource' ? info.rest : '';
    const named = rest === '' ? path : `${path.slice(0, path.length - rest.length)}/…`;
    return named.length > longestPath ? `${named.slice(0, longestPath)}…` : named;
  } catch {
    return '(not a path)';
  }
}
