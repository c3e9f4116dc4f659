/**
 * Connections that a client uses again: after an answer without `Connection: close` the server must not close
 * them while the next request may be on its way, not even if its event loop is held.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as plainConnect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';

async function start(t: TestContext, options: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
  const server = await startHttpsTestServer(options);
  t.after(() => server.stop());
  return server;
}

interface Kept {
  readonly socket: TLSSocket;
  /** Everything that the server has sent. */
  said(): string;
  /** Status codes of the answers so far. */
  statuses(): number[];
}

/** Connects without a certificate, or with that of a user who may only make the requests of the groups. */
async function dial(
  t: TestContext,
  server: HttpsTestServer,
  { isAnonymous = false, groups = [] }: { isAnonymous?: boolean; groups?: readonly string[] } = {},
): Promise<Kept> {
  const own = isAnonymous ? undefined : await server.clientCertificate('nobody', groups);
  const socket = connect({
    host: '127.0.0.1',
    port: server.port,
    rejectUnauthorized: false,
    ...(own && { key: own.key, cert: own.certificate }),
  });
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  let said = '';
  socket.on('data', (chunk) => (said += chunk));
  // The server sends the session when the handshake is over on its side.
  await once(socket, 'session');
  const statuses = () => [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  return { socket, said: () => said, statuses };
}

const post = (bytes: number) =>
  `POST ${maps} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

/** Resolves when the server has answered several requests of another connection. */
async function turnsOf(t: TestContext, server: HttpsTestServer): Promise<void> {
  const { socket, statuses } = await dial(t, server);
  for (let number = 1; number <= 5; number++) {
    socket.write(`GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await eventually(systemClock, 'an answer', () => statuses().length === number);
  }
}

function holdLoop(heldMs: number): void {
  for (const until = performance.now() + heldMs; performance.now() < until; );
}

/** Sends data, and holds the event loop: the server reads the data after the timers that fire meanwhile. */
async function writeAndHold({ socket }: Kept, data: string, heldMs: number): Promise<void> {
  // Timers run after this phase of the event loop, and before the data is read.
  await new Promise(setImmediate);
  socket.write(data);
  holdLoop(heldMs);
}

const whenStatuses = (kept: Kept, count: number) =>
  eventually(systemClock, `${count} answers`, () => kept.statuses().length >= count || kept.socket.closed);

describe('the connection of a POST that is rejected before its body has arrived', () => {
  it('carries the next request, even if the event loop was held in the meantime', async (t) => {
    const server = await start(t);
    const kept = await dial(t, server);
    kept.socket.write(`${post(20)}{"metadata"`);
    await turnsOf(t, server);
    // The Hono adapter closes the connection of an unread request half a second after the answer.
    await writeAndHold(kept, `:{"a":1}}${post(2)}{}`, 700);
    await whenStatuses(kept, 2);
    assert.deepEqual(kept.statuses(), [403, 403]);
    assert.doesNotMatch(kept.said(), /connection: close/i);
  });

  it('is closed with an announcement if the body does not arrive', async (t) => {
    const clock = new FakeClock();
    const server = await start(t, { listenClock: clock });
    const kept = await dial(t, server);
    kept.socket.write(`${post(20)}{"metadata"`);
    await turnsOf(t, server);
    assert.deepEqual(kept.statuses(), []);
    const closed = once(kept.socket, 'close');
    await clock.advance(60_000);
    await closed;
    assert.deepEqual(kept.statuses(), [403]);
    assert.match(kept.said(), /connection: close/i);
  });

  it('is closed some time after the answer if the body is too large to be read', async (t) => {
    const server = await start(t);
    const [kept, other] = [await dial(t, server), await dial(t, server)];
    const closed = once(kept.socket, 'close');
    kept.socket.write(post(40_000_000));
    await whenStatuses(kept, 1);
    other.socket.write(`GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await whenStatuses(other, 1);
    // The client can still send, and is not reset before it has read the answer.
    assert.deepEqual(
      [kept.statuses(), kept.socket.readableEnded, kept.socket.destroyed],
      [[403], false, false],
    );
    await closed;
  });

  for (const [what, wait, rest] of [
    ['a second after the server stops', 1000, ''],
    ['if the body arrives after the server stops', 0, ':{"a":1}}'],
  ] as const)
    it(`is closed with an announcement ${what}`, async (t) => {
      const clock = new FakeClock();
      const server = await startHttpsTestServer({ listenClock: clock });
      const kept = await dial(t, server);
      kept.socket.write(`${post(20)}{"metadata"`);
      await turnsOf(t, server);
      const ended = server.stop();
      const closed = once(kept.socket, 'close');
      if (rest) kept.socket.write(rest);
      await clock.advance(wait);
      await whenStatuses(kept, 1);
      assert.deepEqual(kept.statuses(), [403]);
      assert.match(kept.said(), /connection: close/i);
      await Promise.all([closed, ended]);
    });

  it('is closed with an announcement after its body if it is rejected while the server stops', async (t) => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const server = await startHttpsTestServer({
      listenClock: new FakeClock(),
      authenticate: async () => {
        ask();
        await stopped;
        return { name: 'nobody', groups: [] };
      },
    });
    const kept = await dial(t, server);
    const closed = once(kept.socket, 'close');
    kept.socket.write(`${post(20)}{"metadata"`);
    await asked;
    const ended = server.stop();
    stop();
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    assert.deepEqual(kept.statuses(), []);
    kept.socket.write(':{"a":1}}');
    await Promise.all([closed, ended]);
    assert.deepEqual(kept.statuses(), [403]);
    assert.match(kept.said(), /connection: close/i);
  });
});

it('a POST whose body does not begin is answered after a minute, while it is still read', async (t) => {
  const clock = new FakeClock();
  const server = await start(t, { clock });
  const kept = await dial(t, server, { groups: ['system:masters'] });
  kept.socket.write(post(20));
  await turnsOf(t, server);
  await clock.advance(60_000);
  await whenStatuses(kept, 1);
  assert.deepEqual(kept.statuses(), [504]);
});

it('a request in progress when the server stops is answered with an announcement of the end', async (t) => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const server = await startHttpsTestServer({
    authenticate: async () => {
      ask();
      await stopped;
      return { name: 'admin', groups: ['system:masters'] };
    },
  });
  const kept = await dial(t, server);
  const closed = once(kept.socket, 'close');
  kept.socket.write(`GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`);
  await asked;
  const ended = server.stop();
  stop();
  await Promise.all([closed, ended]);
  assert.deepEqual(kept.statuses(), [200]);
  assert.match(kept.said(), /connection: close/i);
});

it('a request that follows an answer which promised to keep the connection is answered while the server stops', async (t) => {
  const server = await startHttpsTestServer();
  const kept = await dial(t, server, { groups: ['system:masters'] });
  const closed = once(kept.socket, 'close');
  kept.socket.write(`GET ${maps}?watch=true HTTP/1.1\r\nhost: a\r\n\r\n`);
  await whenStatuses(kept, 1);
  const ended = server.stop();
  await eventually(systemClock, 'the end of the watch', () => kept.said().endsWith('0\r\n\r\n'));
  assert.doesNotMatch(kept.said(), /connection: close/i);
  kept.socket.write(`GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`);
  await Promise.all([closed, ended]);
  assert.deepEqual(kept.statuses(), [200, 200]);
  assert.match(kept.said(), /connection: close/i);
});

it('a first request that arrives in time is answered, even if the event loop was held in the meantime', async (t) => {
  const server = await start(t, { listen: { patienceMs: 1500 } });
  const kept = await dial(t, server, { isAnonymous: true });
  await writeAndHold(kept, `GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`, 2000);
  await whenStatuses(kept, 1);
  assert.deepEqual(kept.statuses(), [401]);
});

it('a connection whose handshake ends in time keeps its client, even if the event loop was held in the meantime', async (t) => {
  const server = await start(t, { listen: { patienceMs: 1000 } });
  for (const [own, status] of [
    [undefined, 401],
    [await server.clientCertificate('nobody', []), 403],
  ] as const) {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port,
      rejectUnauthorized: false,
      ...(own && { key: own.key, cert: own.certificate }),
    });
    t.after(() => socket.destroy());
    let said = '';
    socket.on('data', (chunk) => (said += chunk));
    await once(socket, 'secureConnect');
    // The server has not yet read the client's last message of the handshake.
    socket.write(`GET ${maps} HTTP/1.1\r\nhost: a\r\n\r\n`);
    holdLoop(1500);
    await eventually(systemClock, 'an answer', () => said.length > 0 || socket.closed);
    assert.match(said, new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

it('a connection without a handshake is closed without an answer', async (t) => {
  const server = await start(t, { listen: { patienceMs: 100 } });
  const socket = plainConnect(server.port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => (said += chunk));
  await once(socket, 'close');
  assert.equal(said, '');
});

it('a connection without a certificate and without a request is closed', async (t) => {
  const kept = await dial(t, await start(t, { listen: { patienceMs: 100 } }), { isAnonymous: true });
  await once(kept.socket, 'close');
  assert.deepEqual(kept.statuses(), [408]);
});
