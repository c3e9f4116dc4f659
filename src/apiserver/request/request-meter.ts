/**
 * Names requests to the meter of the event loop, so that a blocked loop is reported with the request that
 * caused it.
 */
import type { Work } from '../../base/event-loop/work.ts';
import type { ServerContext } from '../server-context.ts';
import { auditIdOf } from './audit-id.ts';
import { shownPath } from './request-log.ts';

type MeteredServer = Pick<ServerContext, 'loopMeter' | 'random'>;

export interface MeteredRequest {
  readonly request: Request;
  /** Percent-encoded, without the query. */
  readonly path: () => string;
  /** Name of the user; undefined until it is known. */
  readonly user: () => string | undefined;
}

const works = new WeakMap<Request, Work>();

/** Serves a request under its name. A watch or a stream counts until its answer begins. */
export async function underItsName(
  { loopMeter, random }: MeteredServer,
  { request, path, user }: MeteredRequest,
  serve: () => Promise<void>,
): Promise<void> {
  if (!loopMeter) return serve();
  const work: Work = {
    kind: 'request',
    describe: () => ({
      method: request.method,
      path: shownPath(path()),
      user: user(),
      id: auditIdOf(request, random),
    }),
  };
  works.set(request, work);
  const end = loopMeter.begin(work);
  try {
    await serve();
  } finally {
    end();
  }
}

/**
 * Must be called when a request continues after a wait: the same turn of the event loop may have done other
 * work before.
 */
export function goesOn({ loopMeter }: Pick<MeteredServer, 'loopMeter'>, request: Request): void {
  const work = loopMeter && works.get(request);
  if (work) loopMeter.mark(work);
}
