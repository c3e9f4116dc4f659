/** The end of a connection. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { type Clock, sleep } from '../../../base/clock.ts';

/** Milliseconds that a client gets to hang up too. */
const patienceMs = 5_000;

/**
 * Ends the connection and waits until the client has done so too: a client that is cut off while it still
 * sends loses what it has not read yet. Resolves when the connection is closed.
 */
export async function hangUp(connection: Duplex, clock: Clock): Promise<void> {
  if (connection.closed) return;
  const closed = once(connection, 'close').catch(() => undefined);
  connection.end();
  const done = new AbortController();
  const impatient = sleep(clock, patienceMs, done.signal).then(
    () => connection.destroy(),
    () => undefined,
  );
  await closed;
  done.abort();
  await impatient;
}
