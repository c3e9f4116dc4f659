/** HTTP/2 connections of unauthenticated clients are counted by address, whatever bytes they begin with. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { startHttpsTestServer } from '../../fixtures/https-api-server.ts';

/**
 * The preface with an empty SETTINGS (RFC 9113 §3.4), and HEADERS of `:method: GET` without an end (§6.2).
 */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const begun = Buffer.from('\0\0\x01\x01\0\0\0\0\x01\x82', 'latin1');
const connections = 12;

/** Opens connections that send `words`, and waits until at most two of them, the limit, are left. */
async function fewStay(t: TestContext, takesUpSession: boolean, words: Buffer): Promise<TLSSocket[]> {
  // Nothing but the limit ends a connection.
  const listen = { maxConnections: 32, patienceMs: 600_000 };
  const server = await startHttpsTestServer({ listenClock: new FakeClock(), listen });
  const tls = { host: '127.0.0.1', port: server.port, ca: server.authority.certificate };
  const sockets: TLSSocket[] = [];
  t.after(async () => {
    // The server waits for none of the connections: its clock stands still.
    for (const socket of sockets) socket.destroy();
    await server.stop();
  });
  let session: Buffer | undefined;
  for (let i = 0; i < connections; i++) {
    const again = takesUpSession && session !== undefined && { session };
    const socket = connect({ ...tls, ALPNProtocols: ['h2', agentProtocol], ...again });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('session', (next) => {
      session = next;
    });
    await once(socket, 'secureConnect');
    socket.resume();
    socket.write(words);
  }
  while (sockets.filter((socket) => !socket.closed).length > 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  return sockets;
}

const limit = { timeout: 60_000 };

test('unfinished requests of anonymous clients are limited', limit, async (t) => {
  await fewStay(t, false, Buffer.concat([preface, begun]));
});

test('resumed TLS sessions of anonymous clients are limited', limit, async (t) => {
  const sockets = await fewStay(t, true, preface);
  assert.ok(
    sockets.some((socket) => socket.isSessionReused()),
    'a session was taken up',
  );
});
