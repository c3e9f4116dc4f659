/** An upgraded connection, as Node's client returns it. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { UpgradedConnection } from '../server-context.ts';

/** Silence in milliseconds after which keep-alive probes are sent. */
const keepAliveMs = 15_000;

/** Converts the arguments of the event `upgrade`; `head` are the bytes that arrived after the answer. */
export function upgradedOf({ headers }: IncomingMessage, socket: Socket, head: Buffer): UpgradedConnection {
  socket.on('error', () => undefined);
  socket.setKeepAlive(true, keepAliveMs);
  if (head.length > 0) socket.unshift(head);
  const plain = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return { headers: Object.fromEntries(plain), socket };
}
