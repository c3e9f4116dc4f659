/**
 * How long the other side of a connection has to close it, once the server has sent the last of it and stops.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';

/**
 * A client that is there closes its side within a round trip, and has then read everything. One that lost its
 * power, or does not read, never closes it, and must not hold up the end of the server.
 */
const lingerMs = 1000;

/**
 * Destroys the socket a second after the last byte was handed to the kernel, unless its client has closed it
 * by then.
 */
export function lingerThenDestroy(socket: Socket, clock: Clock): void {
  const linger = () => {
    const late = clock.after(lingerMs, () => socket.destroy());
    socket.once('close', () => late.cancel());
  };
  if (socket.writableFinished) linger();
  else socket.once('finish', linger);
}
