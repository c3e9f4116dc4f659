/** Closes a connection gracefully. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { type Clock, sleep } from '../../../base/clock.ts';

/** Timeout for the client to close its side, in milliseconds. */
const timeoutMs = 5_000;

/**
 * Ends the connection and waits until the client has closed its side: a client whose connection is reset
 * while it still sends loses the data that it has not read yet. Resolves when the connection is closed.
 */
export async function hangUp(connection: Duplex, clock: Clock): Promise<void> {
  if (connection.closed) return;
  const closed = once(connection, 'close').catch(() => undefined);
  connection.end();
  const done = new AbortController();
  const timedOut = sleep(clock, timeoutMs, done.signal).then(
    () => connection.destroy(),
    () => undefined,
  );
  await closed;
  done.abort();
  await timedOut;
}
