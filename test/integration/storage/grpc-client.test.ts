/** The gRPC client for etcd: the results of calls when servers and connections misbehave. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type ClientOptions, GrpcClient } from '../../../src/grpc/client.ts';
import type { GrpcError } from '../../../src/grpc/status.ts';
import type { EtcdWire } from '../../fixtures/etcd-wire.ts';
import { until } from '../../fixtures/eventually.ts';
import { settled, WireWorld } from './wire-world.ts';

const range = '/etcdserverpb.KV/Range';
const emptyMessage = Buffer.alloc(5);

class World extends WireWorld {
  client(options: Partial<ClientOptions> = {}): GrpcClient {
    const client = new GrpcClient({
      endpoint: `unix:${this.path('0')}`,
      tls: {},
      keepaliveMs: 6000,
      connectMs: 5000,
      clock: this.network,
      maxMessageBytes: 1 << 20,
      ...options,
    });
    this.stack.defer(() => client.close());
    return client;
  }

  /** Starts a server of plain sockets in place of the first etcd or on a port. */
  async sockets(
    take: (socket: Socket) => void,
    onPort = false,
  ): Promise<{ server: Server; count: () => number }> {
    let count = 0;
    const open = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      count++;
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
      take(socket);
    });
    server.listen(onPort ? { host: '127.0.0.1', port: 0 } : { path: this.path('0') });
    await once(server, 'listening');
    this.stack.defer(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return { server, count: () => count };
  }
}

const call = (client: GrpcClient, timeoutMs = 5000) => client.call(range, emptyMessage, timeoutMs);
const fails = (promise: Promise<unknown>, message: RegExp) =>
  assert.rejects(promise, (error: GrpcError) => {
    assert.equal(error.name, 'GrpcError');
    assert.match(error.message, message);
    return true;
  });

/** Holds answers back until the returned function is called. */
function held(wire: EtcdWire): () => void {
  const { promise, resolve } = Promise.withResolvers<object>();
  wire.answer = () => promise as Promise<Readonly<Record<string, unknown>>>;
  return () => resolve({});
}

/** Replaces the server's handling of a stream. */
async function answeredBy(world: World, take: (stream: ServerHttp2Stream) => void): Promise<GrpcClient> {
  const wire = await world.etcd();
  wire.onSession = (session) => {
    session.removeAllListeners('stream');
    session.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined);
      take(stream);
    });
  };
  return world.client();
}

describe('a call of gRPC', () => {
  it('fails at its deadline, and the connection serves the next call', async () => {
    await using world = new World();
    const wire = await world.etcd();
    const letGo = held(wire);
    const calling = call(world.client(), 1234);
    await until(() => wire.calls.length === 1);
    let over = false;
    const failing = fails(calling, /^4 DEADLINE_EXCEEDED: no answer in 1234 ms$/).finally(() => {
      over = true;
    });
    await world.network.advance(1233);
    await settled();
    assert.equal(over, false);
    await world.network.advance(1);
    await failing;
    const [session] = wire.sessions;
    letGo();
    wire.answer = () => ({});
    await call(world.client());
    assert.ok(session && wire.sessions.has(session), 'the connection is the same');
  });

  for (const [what, take, message] of [
    [
      'an answer without a message',
      (stream: ServerHttp2Stream) =>
        stream.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true }),
      /^2 UNKNOWN: the answer is empty$/,
    ],
    [
      'an answer of a server that does not speak gRPC',
      (stream: ServerHttp2Stream) => stream.respond({ ':status': 503 }, { endStream: true }),
      /^14 UNAVAILABLE: answered with HTTP status 503$/,
    ],
    ['a stream that is reset', (stream: ServerHttp2Stream) => stream.close(2), /^14 UNAVAILABLE: /],
    ['a connection that ends', (stream: ServerHttp2Stream) => stream.session?.destroy(), /^14 UNAVAILABLE: /],
    [
      'an answer without a status',
      (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200 });
        stream.end(emptyMessage);
      },
      /^14 UNAVAILABLE: /,
    ],
    [
      'a compressed answer',
      (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200 });
        stream.end(Buffer.from([1, 0, 0, 0, 0]));
      },
      /^13 INTERNAL: the answer is compressed/,
    ],
  ] as const) {
    it(`fails with ${what}`, async () => {
      await using world = new World();
      await fails(call(await answeredBy(world, take)), message);
    });
  }
});

describe('a connection of gRPC', () => {
  it('is opened once for all waiting calls, and after a failure again only after the backoff', async () => {
    await using world = new World();
    const { count } = await world.sockets((socket) => socket.destroy());
    const client = world.client();
    await Promise.all([fails(call(client), /^14 /), fails(call(client), /^14 /)]);
    assert.equal(count(), 1);
    for (const [pause, made] of [
      [0, 1],
      [49, 1],
      [1, 2],
      [99, 2],
      [1, 3],
    ] as const) {
      await world.network.advance(pause);
      await fails(call(client), /^14 UNAVAILABLE: /);
      await settled();
      assert.equal(count(), made, `${pause} ms later`);
    }
  });

  it('fails its calls with the reason why it cannot be made', async () => {
    await using world = new World();
    const client = world.client();
    await fails(call(client), /^14 UNAVAILABLE: connect ENOENT /);
    await fails(call(client), /^14 UNAVAILABLE: connect ENOENT /);
  });

  it('is abandoned at the timeout of its opening', async () => {
    await using world = new World();
    const ended: Socket[] = [];
    const { server } = await world.sockets(
      (socket) => socket.resume().on('end', () => ended.push(socket)),
      true,
    );
    const { port } = server.address() as AddressInfo;
    const client = world.client({ endpoint: `https://127.0.0.1:${port}`, connectMs: 3000 });
    const calling = call(client);
    const failing = fails(calling, /^14 UNAVAILABLE: no connection in 3000 ms$/);
    await settled();
    await world.network.advance(3000);
    await failing;
    await until(() => ended.length === 1);
  });

  it('is replaced after GOAWAY, and ends with its last call', async () => {
    await using world = new World();
    const wire = await world.etcd();
    const client = world.client();
    const letGo = held(wire);
    const first = call(client);
    await until(() => wire.calls.length === 1);
    const [session] = wire.sessions;
    session?.goaway();
    await settled();
    const second = call(client);
    await until(() => wire.calls.length === 2);
    assert.equal(wire.sessions.size, 2);
    letGo();
    await Promise.all([first, second]);
    await until(() => wire.sessions.size === 1);
    assert.ok(session && !wire.sessions.has(session));
  });

  it('is replaced when its stream ids are used up', async () => {
    await using world = new World();
    const wire = await world.etcd();
    const client = world.client();
    const useUp = (message: unknown) => {
      const { stream } = message as { stream: { session: { setNextStreamID(id: number): void } } };
      stream.session.setNextStreamID(2 ** 31 - 1);
    };
    await call(client);
    subscribe('http2.client.stream.created', useUp);
    try {
      await call(client);
    } finally {
      unsubscribe('http2.client.stream.created', useUp);
    }
    // The call with the last stream number.
    await call(client);
    await fails(call(client), /^14 UNAVAILABLE: .*stream/i);
    await call(client);
    await until(() => wire.sessions.size === 1);
    assert.equal(wire.calls.length, 4);
  });

  it('is not probed without an active call, since etcd closes such connections', async () => {
    await using world = new World();
    const wire = await world.etcd();
    const client = world.client({ keepaliveMs: 1000 });
    await call(client);
    await settled();
    await world.network.advance(3000);
    await settled();
    assert.equal(wire.pings, 0);
    const letGo = held(wire);
    const calling = call(client, 100_000);
    await until(() => wire.calls.length === 2);
    await world.network.advance(1000);
    await until(() => wire.pings === 1);
    letGo();
    await calling;
  });

  it('that is closed lets calls end and rejects new ones', async () => {
    await using world = new World();
    const wire = await world.etcd();
    const client = world.client();
    const letGo = held(wire);
    const calling = call(client);
    await until(() => wire.calls.length === 1);
    client.close();
    await fails(call(client), /^14 UNAVAILABLE: the connection is closed$/);
    letGo();
    await calling;
    await until(() => wire.sessions.size === 0);
    assert.equal(world.network.pending, 0);
  });
});

describe('a connection of gRPC to a server that is silent', () => {
  for (const [what, leave] of [
    ['is ended when it is closed', (client: GrpcClient) => client.close()],
    [
      'is ended when the server has sent GOAWAY',
      (_: GrpcClient, wire: EtcdWire) => [...wire.sessions][0]?.goaway(),
    ],
    [
      'is ended with its last call after the server has sent GOAWAY',
      async (client: GrpcClient, wire: EtcdWire) => {
        const letGo = held(wire);
        const calling = call(client);
        await until(() => wire.calls.length === 2);
        [...wire.sessions][0]?.goaway();
        await settled();
        letGo();
        await calling;
      },
    ],
  ] as const) {
    it(what, async () => {
      await using world = new World();
      const wire = await world.etcd();
      const ended: unknown[] = [];
      const { server } = await world.sockets((socket) => {
        // Data is passed on, the end of the connection is not.
        const onward = connect({ path: world.path('0') }).on('data', (bytes) => socket.write(bytes));
        socket.on('data', (bytes) => onward.write(bytes)).on('end', () => ended.push(0));
        socket.on('close', () => onward.destroy());
      }, true);
      const { port } = server.address() as AddressInfo;
      const client = world.client({ endpoint: `http://127.0.0.1:${port}` });
      await call(client);
      await leave(client, wire);
      // The client has released the connection and its timer.
      await until(() => ended.length > 0 && world.network.pending === 0);
    });
  }
});

describe('a stream of gRPC', () => {
  async function opened(world: World) {
    const wire = await world.etcd();
    const failures: string[] = [];
    const ends: unknown[] = [];
    const stream = world
      .client()
      .stream(
        '/etcdserverpb.Watch/Watch',
        {},
        { onFailure: ({ message }) => failures.push(message), onEnd: () => ends.push(0) },
      );
    stream.send(emptyMessage);
    await until(() => wire.watches[0]?.requests.length);
    const messages = stream.messages();
    return { wire, stream, messages, failures, ends };
  }

  it('reports its cancellation to its reader only', async () => {
    await using world = new World();
    const { wire, stream, messages, failures, ends } = await opened(world);
    await messages.next();
    const next = messages.next();
    stream.cancel();
    await fails(next, /^1 CANCELLED: /);
    await until(() => wire.watches.length === 0 && ends.length > 0);
    assert.deepEqual(failures, []);
    stream.send(emptyMessage);
  });

  it('ends when its reader stops early', async () => {
    await using world = new World();
    const { wire, messages, failures, ends } = await opened(world);
    for await (const _ of messages) break;
    await until(() => wire.watches.length === 0 && ends.length > 0);
    assert.deepEqual(failures, []);
  });

  it('reports a failing status even without a reader', async () => {
    await using world = new World();
    const { wire, messages, failures, ends } = await opened(world);
    wire.watches[0]?.fail(14, 'etcdserver: no leader');
    await until(() => failures.length > 0);
    assert.deepEqual([failures, ends], [['14 UNAVAILABLE: etcdserver: no leader'], [0]]);
    await messages.next();
    await fails(messages.next(), /no leader/);
  });

  it('ends without a failure when its server ends it', async () => {
    await using world = new World();
    const { wire, messages, failures } = await opened(world);
    wire.watches[0]?.fail(0, '');
    assert.equal((await Array.fromAsync(messages)).length, 1);
    assert.deepEqual(failures, []);
  });

  it('fails at a message that is too long', async () => {
    await using world = new World();
    const { wire, messages } = await opened(world);
    wire.watches[0]?.put('/r/a', 'x'.repeat(1 << 20), 8);
    await messages.next();
    await fails(messages.next(), /^8 RESOURCE_EXHAUSTED: /);
    await until(() => wire.watches.length === 0);
  });
});
