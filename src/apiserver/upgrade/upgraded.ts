/** A connection that has left HTTP, as Node's client hands it over. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { UpgradedConnection } from '../server-context.ts';

/** After so much silence the other side is asked whether it is still there. */
const keepAliveMs = 15_000;

/** Of the event `upgrade`; `head` is what came behind the answer already. */
export function upgradedOf({ headers }: IncomingMessage, socket: Socket, head: Buffer): UpgradedConnection {
  socket.on('error', () => undefined);
  socket.setKeepAlive(true, keepAliveMs);
  if (head.length > 0) socket.unshift(head);
  const plain = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  return { headers: Object.fromEntries(plain), socket };
}
