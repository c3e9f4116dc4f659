/** An agent's connection whose peer has failed silently: each side closes it, by its own clock. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Clock } from '../../../src/base/clock.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

/**
 * A connection between an agent and the server. It acknowledges the data that it receives, as the kernel of a
 * machine that hangs does.
 */
class Wire {
  readonly #server = net.createServer({ allowHalfOpen: true });
  readonly #sockets = new Set<net.Socket>();
  /** Nothing is passed on any more, including the end of a connection. */
  cut = false;

  async listen(to: number): Promise<number> {
    this.#server.on('connection', (agent) => {
      const server = net.connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
      this.#forward(agent, server);
      this.#forward(server, agent);
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as net.AddressInfo).port;
  }

  #forward(from: net.Socket, to: net.Socket): void {
    this.#sockets.add(from);
    from.on('data', (chunk) => {
      if (!this.cut) to.write(chunk);
    });
    from.on('error', () => undefined);
    from.on('end', () => {
      if (!this.cut) to.end();
    });
    from.once('close', () => this.#sockets.delete(from));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

interface Line {
  readonly wire: Wire;
  readonly server: HttpsTestServer;
  readonly transport: Transport;
  close(): Promise<void>;
}

/** Connects an agent to a server; a side without a given clock has a clock that stands still. */
async function connected(clocks: { readonly agent?: Clock; readonly server?: Clock }): Promise<Line> {
  const server = await startHttpsTestServer({ listenClock: clocks.server ?? new FakeClock() });
  const wire = new Wire();
  const port = await wire.listen(server.port);
  const { key, certificate } = await server.clientCertificate('agent', ['system:masters']);
  const transport = createHttp2Transport({
    server: `https://127.0.0.1:${port}`,
    ca: server.authority.certificate,
    key,
    cert: certificate,
    clock: clocks.agent ?? new FakeClock(),
  });
  return {
    wire,
    server,
    transport,
    async close() {
      transport.close();
      await wire.close();
      await server.stop();
    },
  };
}

/** Returns the sockets of this process, which holds both ends of every connection. */
const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

const maps = '/api/v1/namespaces/default/configmaps';

/** Resolves when the watch has begun; `end` is undefined until the watch ends. */
async function watch({ transport }: Line): Promise<{ end: unknown }> {
  const { body } = await transport.request({ method: 'GET', path: '/api/v1/namespaces?watch=true' });
  const events = body[Symbol.asyncIterator]();
  await events.next();
  const drain = async () => {
    while (!(await events.next()).done);
    return 'no error';
  };
  const state: { end: unknown } = { end: undefined };
  void drain()
    .catch((error: unknown) => error)
    .then((end) => {
      state.end = end;
    });
  return state;
}

describe('an agent whose server has become silent', () => {
  const clock = new FakeClock();
  let line: Line;
  before(async () => {
    line = await connected({ agent: clock });
  });
  after(() => line.close());

  it('keeps the connection while pings are answered, and closes it 45 s after the last answer', async () => {
    const watching = await watch(line);
    for (let pings = 0; pings < 5; pings++) {
      await clock.advance(15_000);
      await eventually(systemClock, 'the answer', async () => clock.nextIn === 15_000);
    }
    assert.equal(watching.end, undefined);
    await clock.advance(10_000);
    const { body } = await line.transport.request({ method: 'GET', path: maps });
    for await (const _ of body);
    await clock.settle();
    assert.equal(clock.nextIn, 5_000, 'a request that ends puts off no ping');
    await clock.advance(5_000);
    await eventually(systemClock, 'the answer', async () => clock.nextIn === 15_000);
    line.wire.cut = true;
    await clock.advance(44_900);
    assert.equal(watching.end, undefined);
    await clock.advance(100);
    await eventually(systemClock, 'the end of the watch', async () => watching.end);
    assert.match(String(watching.end), /cannot reach the API server at \S+: the connection went silent$/);
    assert.equal(clock.pending, 0);
    line.wire.cut = false;
    const again = await line.transport.request({ method: 'GET', path: maps });
    assert.equal(again.status, 200);
  });
});

describe('a server whose agent has become silent', () => {
  const clock = new FakeClock();
  let line: Line;
  before(async () => {
    line = await connected({ server: clock });
  });
  after(() => line.close());

  it('ends its watches and the connection 45 s after the last answer', async () => {
    await watch(line);
    for (let pings = 0; pings < 5; pings++) {
      await clock.advance(15_000);
      await eventually(systemClock, 'the answer', async () => clock.nextIn === 15_000);
    }
    line.wire.cut = true;
    // Data is in flight all the time: TCP alone would retransmit it for a quarter of an hour.
    const made = await line.server.call('POST', '/api/v1/namespaces', { metadata: { name: 'unseen' } });
    assert.equal(made.status, 201);
    await clock.advance(44_900);
    const open = openSockets();
    await clock.advance(100);
    await eventually(systemClock, 'the end of the connection', async () => openSockets() === open - 1);
    assert.equal(clock.pending, 0);
  });

  it('closes an idle connection after three and a half minutes', async () => {
    line.transport.close();
    line.wire.cut = false;
    const idle = await connected({ server: clock });
    try {
      const { body } = await idle.transport.request({ method: 'GET', path: maps });
      for await (const _ of body);
      await eventually(systemClock, 'the end of the request', async () => clock.nextIn === 180_000);
      await clock.advance(179_900);
      idle.wire.cut = true;
      const open = openSockets();
      // The client closes the connection, and no peer answers.
      await clock.advance(30_100);
      await eventually(systemClock, 'the end of the connection', async () => openSockets() === open - 1);
    } finally {
      await idle.close();
    }
  });
});
