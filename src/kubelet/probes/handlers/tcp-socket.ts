/** Checks whether a TCP connection can be made. */
import { connect } from 'node:net';
import { onAbort } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { joinHostPort } from '../plan/handler-port.ts';
import { failure, type Outcome, success } from '../plan/outcome.ts';
import { networkError } from './network-error.ts';
import { resolveHost } from './resolve-host.ts';
import { limited } from './time-limit.ts';

/** Tries to connect. `host` is a name or an address, without brackets. Never rejects. */
export function tcpSocketHandler(
  clock: Clock,
  host: string,
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = joinHostPort(host, port);
  return limited(clock, timeoutMs, signal, async (ending) => {
    try {
      await reach(await resolveHost(host, ending), port, ending);
      return success('');
    } catch (error) {
      if (ending.aborted) return failure(`dial tcp ${address}: i/o timeout`);
      return failure(networkError(error, address));
    }
  });
}

function reach(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host, port });
    const forget = onAbort(signal, () => socket.destroy(signal.reason));
    socket.once('connect', () => {
      resolve();
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', forget);
  });
}
