/** Overload of the server, over its real listener. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get, type RequestOptions, request } from 'node:https';
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcpServer,
  type Socket,
} from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const masters = ['system:masters'];
const nodes = ['system:nodes'];

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function start(t: TestContext, options: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
  const server = await startHttpsTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** Returns functions that send requests as one user, each on a connection of its own. */
async function as(server: HttpsTestServer, user: string, groups: readonly string[]) {
  const { key, certificate } = await server.clientCertificate(user, groups);
  return callWith(server, { key, cert: certificate });
}

function callWith({ port, authority }: HttpsTestServer, credentials: RequestOptions) {
  const options = { host: '127.0.0.1', port, ca: authority.certificate, agent: false, ...credentials };
  const open = async (path: string) => {
    const outgoing = get({ ...options, path });
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    // From here on, the response reports failures.
    outgoing.on('error', () => {});
    return { response, hangUp: () => outgoing.destroy() };
  };
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const headers = { 'content-type': 'application/json' };
    const outgoing = request({ ...options, path, method, headers });
    outgoing.end(body && JSON.stringify(body));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
  };
  return { call, open };
}

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

/** Returns a store in which writes to keys that contain this word wait until the test releases them. */
function gatedStore() {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const wrapStore = (store: Store): Store => ({
    ...store,
    async create(key, value, claims) {
      if (key.includes('gated')) {
        waiting++;
        await gate.promise;
      }
      return store.create(key, value, claims);
    },
  });
  return { wrapStore, letGo: gate.resolve, waiting: () => waiting };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

function assertTooMany({ status, headers, body }: Reply): void {
  assert.equal(status, 429);
  assert.ok(Number(headers['retry-after']) > 0);
  const { kind, reason, code } = JSON.parse(body) as Status;
  assert.deepEqual([kind, reason, code], ['Status', 'TooManyRequests', 429]);
}

describe('too many requests', () => {
  it('of one user are rejected while other users, nodes, heartbeats and probes are answered', async (t) => {
    const { wrapStore, letGo, waiting } = gatedStore();
    const server = await start(t, { wrapStore, limits: { requests: 4, watches: 2 } });
    const greedy = await as(server, 'greedy', masters);
    const create = (user: typeof greedy, name: string) => user.call('POST', maps, { metadata: { name } });
    const held = [create(greedy, 'gated-1'), create(greedy, 'gated-2')];
    await until(() => waiting() === 2);
    assertTooMany(await create(greedy, 'gated-3'));
    const other = await as(server, 'other', masters);
    assert.equal((await other.call('GET', maps)).status, 200);
    held.push(create(other, 'gated-4'));
    const third = await as(server, 'third', masters);
    held.push(create(third, 'gated-5'));
    await until(() => waiting() === 4);
    assertTooMany(await third.call('GET', maps));

    const node = await as(server, 'system:node:n', nodes);
    assert.equal((await node.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })).status, 201);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const lease = { metadata: { name: 'n', namespace: 'kube-node-lease' }, spec: { holderIdentity: 'n' } };
    const made = await node.call('POST', leases, lease);
    assert.equal(made.status, 201, made.body);
    const renewed = await node.call('PUT', `${leases}/n`, JSON.parse(made.body));
    assert.equal(renewed.status, 200, renewed.body);
    assert.equal((await node.call('GET', '/api/v1/services')).status, 200);
    const anybody = callWith(server, {});
    for (const path of ['/livez', '/readyz']) assert.equal((await anybody.call('GET', path)).status, 200);

    letGo();
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      [201, 201, 201, 201],
    );
    assert.equal((await third.call('GET', maps)).status, 200);
  });

  it('for logs count as requests, and as streams if the logs are followed', async (t) => {
    const { wrapStore, letGo, waiting } = gatedStore();
    const server = await start(t, { wrapStore, limits: { requests: 2, watches: 1 } });
    const user = await as(server, 'reader', masters);
    const held = user.call('POST', maps, { metadata: { name: 'gated' } });
    await until(() => waiting() === 1);
    const log = '/api/v1/namespaces/default/pods/none/log';
    assertTooMany(await user.call('GET', log));
    assertTooMany(await user.call('GET', `${log}?follow=false`));
    assert.equal((await user.call('GET', `${log}?follow=true`)).status, 404);
    letGo();
    assert.equal((await held).status, 201);
    assert.equal((await user.call('GET', log)).status, 404);
  });

  it('keep nothing from the control plane itself', async (t) => {
    const server = await start(t, { limits: { requests: 1, watches: 1 } });
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.call('GET', maps)));
    assert.ok(answers.every(({ status }) => status === 200));
  });

  it('to watch are refused until one ends', async (t) => {
    const server = await start(t, { limits: { requests: 4, watches: 2 } });
    const user = await as(server, 'watcher', masters);
    const watch = () => user.open(`${maps}?watch=true`);
    const [first, second, third] = [await watch(), await watch(), await watch()];
    assert.deepEqual(
      [first, second, third].map(({ response }) => response.statusCode),
      [200, 200, 429],
    );
    third.response.resume();
    assert.equal((await user.call('GET', maps)).status, 200);
    const other = await as(server, 'other', masters);
    const others = await other.open(`${maps}?watch=true`);
    assert.equal(others.response.statusCode, 200);
    first.response.on('error', () => {});
    first.hangUp();
    for (let status: number | undefined = 429; status === 429; await turn()) {
      const again = await watch();
      status = again.response.statusCode;
      again.response.on('error', () => {});
      again.hangUp();
    }
    for (const { response, hangUp } of [second, others]) {
      response.on('error', () => {});
      hangUp();
    }
  });
});

describe('too many connections', () => {
  const listen = { maxConnections: 32 };
  const isOpen = (socket: Socket) => !socket.closed;

  it('without a word leave a way in', async (t) => {
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

  it('of users leave no room for more, until one ends', async (t) => {
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

  it('from one port to two addresses of the server count like any others', async (t) => {
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
      const holder = createTcpServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      const { port } = holder.address() as AddressInfo;
      await once(holder.close(), 'close');
      const first = await open('127.0.0.1', port);
      const second = await open('127.0.0.2', port);
      await Promise.all([first, second].map((socket) => once(socket.destroy(), 'close')));
    }
    const silent: Socket[] = [];
    for (let i = 0; i < 20; i++) silent.push(await open('127.0.0.1'));
    await until(() => silent.filter(isOpen).length <= 8);
    for (const socket of silent) socket.destroy();
  });

  it('of unauthenticated clients over HTTP/2 are as few from one address', async (t) => {
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

  it('with a certificate may wait for their first request, those without one are closed', async (t) => {
    const server = await start(t, { listen: { patienceMs: 300, stalledMs: 500 } });
    const { key, certificate } = await server.clientCertificate('user', masters);
    const tls = { host: '127.0.0.1', port: server.port, ca: server.authority.certificate };
    const certified = await established({ ...tls, key, cert: certificate });
    const stranger = await established(tls);
    const answers: string[] = [];
    stranger.setEncoding('latin1').on('data', (text) => void answers.push(String(text)));
    await new Promise((resolve) => stranger.once('close', resolve));
    assert.match(answers.join(''), /^HTTP\/1\.1 408 /);
    // Longer than each limit, and than the interval at which the server checks.
    await sleep(systemClock, 1500);
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

  it('whose head of a request comes too slowly are cut off', async (t) => {
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

describe('a client that does not read', () => {
  const large = (number: number) => ({
    metadata: { name: `large-${number}` },
    data: { text: 'x'.repeat(900_000) },
  });
  const fill = async (server: HttpsTestServer) => {
    for (let number = 0; number < 20; number++) {
      const made = await server.call('POST', maps, large(number));
      await server.cache.waitUntil(Number(made.json().metadata.resourceVersion));
    }
  };

  it('of a watch has its connection ended', async (t) => {
    const clock = new FakeClock();
    const server = await start(t, { clock });
    const user = await as(server, 'deaf', masters);
    const { response } = await user.open(`${maps}?watch=true`);
    response.pause();
    await fill(server);
    const ended = new Promise((resolve) => response.once('close', resolve));
    let failure: NodeJS.ErrnoException | undefined;
    response.on('error', (error) => {
      failure = error;
    });
    for (let i = 0; i < 3; i++) await clock.advance(31_000);
    response.resume();
    await ended;
    assert.equal(failure?.code, 'ECONNRESET');
  });

  it('of a watch over a shared connection loses only that watch', async (t) => {
    const clock = new FakeClock();
    const server = await start(t, { clock });
    const { key, certificate } = await server.clientCertificate('agent', masters);
    const url = `https://127.0.0.1:${server.port}`;
    const ca = server.authority.certificate;
    const transport = createHttp2Transport({ server: url, ca, key, cert: certificate, clock: systemClock });
    t.after(() => transport.close());
    const { body } = await transport.request({ method: 'GET', path: `${maps}?watch=true` });
    await fill(server);
    for (let i = 0; i < 3; i++) await clock.advance(31_000);
    await assert.rejects(async () => {
      for await (const _ of body);
    });
    assert.equal((await transport.request({ method: 'GET', path: '/livez' })).status, 200);
  });

  it('of a list has its connection ended', async (t) => {
    const server = await start(t, { listen: { stalledMs: 200 }, limits: { requests: 2, watches: 2 } });
    await fill(server);
    const user = await as(server, 'deaf', masters);
    const { response } = await user.open(maps);
    response.pause();
    let failure: NodeJS.ErrnoException | undefined;
    response.on('error', (error) => {
      failure = error;
    });
    const ended = new Promise((resolve) => response.once('close', resolve));
    const quiet = await user.open(`/api/v1/namespaces/default/secrets?watch=true`);
    let quietEnded = false;
    quiet.response.on('error', () => {});
    quiet.response.once('close', () => {
      quietEnded = true;
    });
    quiet.response.resume();
    // A client that does not read receives no report, but its slot is free again for another request.
    while ((await user.call('GET', `${maps}/large-1`)).status === 429) await turn();
    response.resume();
    await ended;
    assert.equal(failure?.code, 'ECONNRESET');
    assert.equal(quietEnded, false);
    quiet.hangUp();
  });
});
