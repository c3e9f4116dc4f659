/**
 * Timeout for the client to close its side of a connection, after the server has sent the last byte and
 * stops.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';

/**
 * A reachable client closes its side within a round trip, and has then read everything. A client that lost
 * its power, or does not read, never closes it, and must not delay the end of the server.
 */
const lingerMs = 1000;

/**
 * Time in milliseconds in which a client that was promised its connection gets one more answer, which ends
 * it. A request that a client sends just when its idle connection is closed would be lost.
 */
export const lastAnswersMs = 300;

/**
 * Destroys the socket a second after the last byte was passed to the kernel, unless its client has closed it
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
