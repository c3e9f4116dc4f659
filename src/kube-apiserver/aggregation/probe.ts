/** Asks an extension server for its discovery, to see whether it answers. */
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { Connections } from './connections.ts';
import { exchange, isUpgraded } from './exchange.ts';
import { discoveryPath, type ExtensionServer, serverName } from './extension-server.ts';
import { identityHeaders } from './identity-headers.ts';

/** Milliseconds in which the server has to answer. */
const maxMs = 5_000;

/** User of the request, who may do everything. */
const asker = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** Resolves to why the server does not answer; undefined if it does. */
export async function failureOf(
  server: ExtensionServer,
  connections: Connections,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = discoveryPath(server);
  const url = `https://${serverName(server)}:${server.port}${path}`;
  const late = new AbortController();
  const timer = clock.after(maxMs, () => late.abort());
  try {
    const status = await statusOf(connections, path, AbortSignal.any([signal, late.signal]));
    if (status >= 200 && status < 300) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${status}`;
  } catch (error) {
    const why = late.signal.aborted ? `timed out after ${maxMs} ms` : errorMessage(error);
    return `failing or missing response from ${url}: ${why}`;
  } finally {
    timer.cancel();
  }
}

async function statusOf(connections: Connections, path: string, signal: AbortSignal): Promise<number> {
  const headers = Object.fromEntries(
    Object.entries(identityHeaders(asker)).map(([name, value]) => [name, [value].flat()]),
  );
  const answer = await exchange(connections, { method: 'GET', path, headers, signal });
  if (isUpgraded(answer)) {
    answer.socket.destroy();
    return 101;
  }
  // The body is of no use, and may be of any length.
  answer.destroy();
  return answer.statusCode ?? 0;
}
