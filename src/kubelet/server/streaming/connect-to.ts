/** Opens a TCP connection from this machine to a pod. This machine must have a route to the pod. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { RequestError } from '../plan/log-request.ts';

/** Timeout in milliseconds; an unused address does not respond at all. */
const timeoutMs = 10_000;

/** Throws RequestError (502) with the reason why the connection failed. */
export async function connectTo(host: string, port: number, clock: Clock): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  const timer = clock.after(timeoutMs, () =>
    socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
  );
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    throw new RequestError(502, errorMessage(error));
  } finally {
    timer.cancel();
  }
}
