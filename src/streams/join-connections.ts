/** Joins two connections. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** Timeout in milliseconds for a client to disconnect after the other side has. */
const patienceMs = 10_000;

/**
 * Passes bytes both ways, with backpressure, until either connection has ended; the other one then ends after
 * the bytes in transit. Resolves when both are closed.
 */
export async function joinConnections(client: Duplex, agent: Duplex, clock: Clock): Promise<void> {
  const connections = [client, agent];
  for (const connection of connections) connection.on('error', () => undefined);
  client.once('close', () => agent.destroy());
  agent.once('close', () => {
    if (client.closed) return;
    if (!client.writableEnded) return void client.destroy();
    // The client's remaining data is discarded, but must be read to detect that it disconnects.
    client.resume();
    const timer = clock.after(patienceMs, () => client.destroy());
    client.once('close', () => timer.cancel());
  });
  client.pipe(agent);
  agent.pipe(client);
  if (client.destroyed) agent.destroy();
  if (agent.destroyed) client.destroy();
  await Promise.all(
    connections.map((connection) => connection.closed || once(connection, 'close').catch(() => undefined)),
  );
}
