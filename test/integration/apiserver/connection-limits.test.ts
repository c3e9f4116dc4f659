/** Too many connections: of one user, and without a certificate. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { as, callWith, maps, masters, type Reply, start, until } from './load-clients.ts';

/**
 * Returns a connection after its TLS handshake. On a busy machine the handshake takes longer than a short
 * timeout, so it is retried.
 */
async function established(options: ConnectionOptions): Promise<TLSSocket> {
  for (;;) {
    const socket = connect(options);
    socket.on('error', () => {});
    try {
      await once(socket, 'secureConnect');
      return socket;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
  }
}

describe('too many connections', () => {
  const listen = { maxConnections: 32 };
  const isOpen = (socket: Socket) => !socket.closed;

  it('leave room for other clients if they send nothing', async (t) => {
    const server = await start(t, { listen });
    const silent: Socket[] = [];
    for (let i = 0; i < 40; i++) {
      const socket = connectTcp(server.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      silent.push(socket);
    }
    const user = await as(server, 'user', masters);
    assert.equal((await user.call('GET', maps)).status, 200);
    // Unauthenticated clients may have a quarter of the connections.
    await until(() => silent.filter(isOpen).length <= 8);
    for (const socket of silent) socket.destroy();
  });

  it('of unauthenticated clients are limited for each address, and end with their answer', async (t) => {
    const server = await start(t, { listen });
    const anonymous: TLSSocket[] = [];
    for (let i = 0; i < 10; i++) {
      const socket = connect({ host: '127.0.0.1', port: server.port, ca: server.authority.certificate });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      anonymous.push(socket);
    }
    await until(() => anonymous.filter(isOpen).length <= 2);
    for (const socket of anonymous) socket.destroy();
    for (const [path, status] of [
      ['/livez', 200],
      [maps, 401],
    ] as const) {
      const { response } = await callWith(server, {}).open(path);
      assert.equal(response.statusCode, status);
      assert.equal(response.headers.connection, 'close');
      response.resume();
    }
  });

  it('of one user are refused', async (t) => {
    const server = await start(t, { listen });
    const user = await as(server, 'user', masters);
    const watches = [];
    for (let i = 0; i < 9; i++) watches.push(await user.open(`${maps}?watch=true`));
    assert.deepEqual(
      watches.map(({ response }) => response.statusCode),
      [200, 200, 200, 200, 200, 200, 200, 200, 429],
    );
    const other = await as(server, 'other', masters);
    assert.equal((await other.call('GET', maps)).status, 200);
    for (const { response, hangUp } of watches) {
      response.on('error', () => {});
      hangUp();
    }
  });

  it('of users leave no room for more connections until one ends', async (t) => {
    const server = await start(t, { listen: { maxConnections: 4 } });
    const watches = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const user = await as(server, name, masters);
      const watch = await user.open(`${maps}?watch=true`);
      watch.response.on('error', () => {});
      assert.equal(watch.response.statusCode, 200);
      watches.push(watch);
    }
    const late = await as(server, 'late', masters);
    await assert.rejects(late.call('GET', maps));
    watches[0]?.hangUp();
    let answer: Reply | undefined;
    while (!answer) answer = await late.call('GET', maps).catch(() => undefined);
    assert.equal(answer.status, 200);
    for (const { hangUp } of watches) hangUp();
  });

  it('from one port to two addresses of the server are counted like other connections', async (t) => {
    const server = await start(t, {
      listenClock: new FakeClock(),
      listen: { ...listen, address: '0.0.0.0' },
    });
    const open = async (host: string, localPort = 0) => {
      const socket = connectTcp({ port: server.port, host, localPort });
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    };
    for (let pair = 0; pair < 10; pair++) {
      // The test binds both: no other socket can be bound to a port that the system chose for one.
      const port = await freePort();
      const first = await open('127.0.0.1', port);
      const second = await open('127.0.0.2', port);
      await Promise.all([first, second].map((socket) => once(socket.destroy(), 'close')));
    }
    const silent: Socket[] = [];
    for (let i = 0; i < 20; i++) silent.push(await open('127.0.0.1'));
    await until(() => silent.filter(isOpen).length <= 8);
    for (const socket of silent) socket.destroy();
  });

  it('of unauthenticated clients over HTTP/2 are limited for each address, too', async (t) => {
    // Nothing but the limit ends a connection.
    const patient = { ...listen, patienceMs: 600_000 };
    const server = await start(t, { listenClock: new FakeClock(), listen: patient });
    const sockets: TLSSocket[] = [];
    const tls = { host: '127.0.0.1', port: server.port, ca: server.authority.certificate };
    for (let i = 0; i < 10; i++) {
      const ALPNProtocols = i % 2 === 0 ? ['h2', agentProtocol] : ['http/1.1'];
      const socket = connect({ ...tls, ALPNProtocols });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      socket.resume();
      sockets.push(socket);
    }
    await until(() => sockets.filter(isOpen).length <= 2);
    for (const socket of sockets) socket.destroy();
  });

  it('with a certificate may wait for their first request; connections without a certificate are closed', async (t) => {
    // A connection that is stalled, too, would be closed without an answer.
    const server = await start(t, { listen: { patienceMs: 300, stalledMs: 3000 } });
    const { key, certificate } = await server.clientCertificate('user', masters);
    const tls = { host: '127.0.0.1', port: server.port, ca: server.authority.certificate };
    const certified = await established({ ...tls, key, cert: certificate });
    const stranger = await established(tls);
    const answers: string[] = [];
    stranger.setEncoding('latin1').on('data', (text) => void answers.push(String(text)));
    await new Promise((resolve) => stranger.once('close', resolve));
    assert.match(answers.join(''), /^HTTP\/1\.1 408 /);
    // Longer than each limit, and than the interval at which the server checks.
    await sleep(systemClock, 4000);
    const body = JSON.stringify({ metadata: { name: 'late' } });
    const head = `POST ${maps} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    certified.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    const [answer] = (await once(certified.setEncoding('latin1'), 'data')) as [string];
    assert.match(answer, /^HTTP\/1\.1 201 /);
    // The timeout also applies to the next request head.
    certified.write('GET /api HTTP/1.1\r\n');
    await new Promise((resolve) => certified.resume().once('close', resolve));
  });

  it('with a certificate are kept after an answer that requires no user', async (t) => {
    const server = await start(t);
    const { key, certificate } = await server.clientCertificate('user', masters);
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const user = callWith(server, { key, cert: certificate, agent });
    for (const path of ['/version', '/readyz', '/livez']) {
      const { headers } = await user.call('GET', path);
      assert.equal(headers.connection, 'keep-alive', path);
    }
    const stranger = await callWith(server, { agent }).call('GET', '/version');
    assert.equal(stranger.headers.connection, 'close');
  });

  it('are closed if their request head arrives too slowly', async (t) => {
    const server = await start(t, { listen: { patienceMs: 300 } });
    const { key, certificate } = await server.clientCertificate('user', masters);
    const tls = { ca: server.authority.certificate, key, cert: certificate };
    const socket = await established({ host: '127.0.0.1', port: server.port, ...tls });
    socket.write('GET /api HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 50);
    t.after(() => clearInterval(drip));
    socket.resume();
    // `once` would reject: data written to a closed connection may be answered with a reset.
    await new Promise((resolve) => socket.once('close', resolve));
  });
});
