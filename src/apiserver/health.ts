/**
 * Health endpoints `/livez`, `/readyz`, `/healthz` and their single checks, in the text form for probes and
 * people.
 */
import { newStatusError } from '../apimachinery/status-error.ts';
import { errorMessage } from '../base/log.ts';
import { respondText } from './respond.ts';
import type { ServerContext } from './server-context.ts';

/** Rejects with the reason if the check fails. */
type Check = () => Promise<void> | void;

const storePatience = 2000;
/** Shown to unauthenticated clients, because a reason may name files and machines. */
const withheld = 'reason withheld from unauthenticated clients';

async function within(server: ServerContext, work: Promise<unknown>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(server.store.problem?.() ?? 'no answer within two seconds'));
  const timer = server.clock.after(storePatience, late);
  try {
    await Promise.race([work, promise]);
  } finally {
    timer.cancel();
  }
}

/**
 * Returns the handler of the health endpoints. `isKnown` returns whether the caller is authenticated; called
 * only if a check fails.
 */
export function createHealth(server: ServerContext, cacheSynced: (() => boolean) | undefined) {
  const ping: Check = () => {};
  const etcd: Check = () => within(server, server.store.currentRevision());
  const informers: Check = () => {
    const synced = cacheSynced?.() ?? server.cache.revision > 0;
    if (!synced) throw newStatusError('ServiceUnavailable', 'the watch cache has not listed the store yet');
  };
  const room: Check = () => {
    const level = server.store.room?.level() ?? 'free';
    if (level === 'free') return;
    throw newStatusError(
      'ServiceUnavailable',
      `etcd is almost full (${level}): delete objects that are not needed`,
    );
  };
  const checks: Readonly<Record<string, ReadonlyMap<string, Check>>> = {
    livez: new Map([['ping', ping]]),
    readyz: new Map([
      ['ping', ping],
      ['etcd', etcd],
      ['etcd-room', room],
      ['informer-sync', informers],
    ]),
    healthz: new Map([
      ['ping', ping],
      ['etcd', etcd],
    ]),
  };

  return async (request: Request, isKnown: () => Promise<boolean>): Promise<Response> => {
    const url = new URL(request.url);
    const [, endpoint = '', one] = url.pathname.split('/');
    const known = checks[endpoint] ?? new Map<string, Check>();
    const excluded = new Set(url.searchParams.getAll('exclude'));
    const wanted = [...known].filter(([name]) => (one ? name === one : !excluded.has(name)));
    if (one && wanted.length === 0) return respondText(404, '404 page not found\n');
    const { lines, failed } = await runChecks(server, endpoint, wanted, isKnown);
    if (failed) return respondText(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
    if (!url.searchParams.has('verbose')) return respondText(200, 'ok');
    return respondText(200, `${lines.join('\n')}\n${endpoint} check passed\n`);
  };
}

/** Runs the checks one after the other; resolves to a line for each. */
async function runChecks(
  server: ServerContext,
  endpoint: string,
  checks: readonly (readonly [string, Check])[],
  isKnown: () => Promise<boolean>,
): Promise<{ readonly lines: readonly string[]; readonly failed: boolean }> {
  const lines: string[] = [];
  let failed = false;
  for (const [name, check] of checks) {
    const reason = await outcome(check);
    failed ||= reason !== undefined;
    if (reason === undefined) {
      lines.push(`[+]${name} ok`);
      continue;
    }
    lines.push(`[-]${name} failed: ${(await isKnown()) ? reason : withheld}`);
    server.log.debug('a health check failed', { endpoint, check: name, reason });
  }
  return { lines, failed };
}

async function outcome(check: Check): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
