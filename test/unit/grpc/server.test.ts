/** The gRPC server, called by the client and by node:http2. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { GrpcClient } from '../../../src/grpc/client.ts';
import { removeUnservedSocket, serveUnary, type UnaryMethod } from '../../../src/grpc/server.ts';
import { GrpcError } from '../../../src/grpc/status.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { frameOf } from './rig.ts';

const echo: UnaryMethod = (message) => Promise.resolve(frameOf(`${message}!`));

/** Creates a socket without a server, as a killed one leaves it. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.served`);
  await once(server, 'listening');
  renameSync(`${path}.served`, path);
  server.close();
  await once(server, 'close');
}

/** Program of a thread that waits for one file after the other, and sends the first mode of each. */
const firstModes = `
  const { lstatSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  for (const path of workerData) {
    let file;
    while (!file) file = lstatSync(path, { throwIfNoEntry: false });
    parentPort.postMessage(file.mode & 0o777);
  }
`;

class World implements AsyncDisposable {
  readonly path: string;
  readonly #stack = new AsyncDisposableStack();

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'grpc-'));
    this.#stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    this.path = join(folder, 'socket');
  }

  async serve(
    methods: Readonly<Record<string, UnaryMethod>> = { '/a.B/Echo': echo },
    maxMessageBytes = 1000,
  ) {
    const server = await serveUnary({ path: this.path, methods, maxMessageBytes });
    this.#stack.defer(() => server.close());
    return server;
  }

  call(method: string, frame: Buffer): Promise<Buffer> {
    const client = new GrpcClient({
      endpoint: `unix:${this.path}`,
      tls: {},
      keepaliveMs: 10_000,
      connectMs: 5000,
      clock: new FakeClock(),
      maxMessageBytes: 1000,
    });
    this.#stack.defer(() => client.destroy());
    return client.call(method, frame, 60_000);
  }

  /** Opens a call of node's own HTTP/2 client. */
  open(method: string): ClientHttp2Stream {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(this.path) });
    session.on('error', () => undefined);
    this.#stack.defer(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':path': method });
    stream.on('error', () => undefined);
    return stream;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

describe('a gRPC server', () => {
  it('answers a call with the message of its method', async () => {
    await using world = new World();
    await world.serve();
    assert.equal((await world.call('/a.B/Echo', frameOf('hello'))).toString(), 'hello!');
  });

  it('answers with HTTP status 200, the type of gRPC, and the status 0 in trailers after the message', async () => {
    await using world = new World();
    await world.serve();
    const stream = world.open('/a.B/Echo');
    const trailing = once(stream, 'trailers');
    const responding = once(stream, 'response');
    stream.end(frameOf('hello'));
    const [headers] = await responding;
    const body = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>));
    const [trailers] = await trailing;
    assert.equal(headers[':status'], 200);
    assert.equal(headers['content-type'], 'application/grpc');
    assert.equal(headers['grpc-status'], undefined);
    assert.deepEqual(body, frameOf('hello!'));
    assert.equal(trailers['grpc-status'], '0');
  });

  it('puts a message together from several DATA frames', async () => {
    await using world = new World();
    await world.serve();
    const stream = world.open('/a.B/Echo');
    const frame = frameOf('hello');
    for (const [start, end] of [
      [0, 3],
      [3, 7],
      [7, frame.length],
    ] as const)
      await new Promise((resolve) => stream.write(frame.subarray(start, end), resolve));
    stream.end();
    const body = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>));
    assert.deepEqual(body, frameOf('hello!'));
  });

  for (const [what, method, frame, message] of [
    ['an unknown method', '/a.B/Other', frameOf(''), '12 UNIMPLEMENTED: unknown method /a.B/Other'],
    ['no message', '/a.B/Echo', Buffer.alloc(0), '3 INVALID_ARGUMENT: no message'],
    ['an incomplete message', '/a.B/Echo', frameOf('hello').subarray(0, 8), '3 INVALID_ARGUMENT: no message'],
    [
      'two messages',
      '/a.B/Echo',
      Buffer.concat([frameOf('a'), frameOf('b')]),
      '3 INVALID_ARGUMENT: more than one message',
    ],
    [
      'a message that is too long',
      '/a.B/Echo',
      frameOf('x'.repeat(1001)),
      '8 RESOURCE_EXHAUSTED: Received message larger than max (1001 vs 1000)',
    ],
    ['a method that throws a GrpcError', '/a.B/Busy', frameOf(''), '14 UNAVAILABLE: busy by 50%25: später'],
    ['a method that throws another error', '/a.B/Broken', frameOf(''), '2 UNKNOWN: broken'],
  ] as const)
    it(`fails a call with ${what}: ${message}`, async () => {
      await using world = new World();
      await world.serve({
        '/a.B/Echo': echo,
        '/a.B/Busy': () => Promise.reject(new GrpcError('UNAVAILABLE', 'busy by 50%25: später')),
        '/a.B/Broken': () => Promise.reject(new Error('broken')),
      });
      await assert.rejects(world.call(method, frame), { name: 'GrpcError', message });
    });

  it('survives a client that cancels its call before the answer', async () => {
    await using world = new World();
    const called = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Buffer>();
    await world.serve({
      '/a.B/Echo': echo,
      '/a.B/Wait': () => {
        called.resolve();
        return answer.promise;
      },
    });
    const stream = world.open('/a.B/Wait');
    stream.end(frameOf(''));
    await called.promise;
    stream.close(constants.NGHTTP2_CANCEL);
    // The server has read RST_STREAM when it answers the ping.
    await new Promise((resolve) => stream.session?.ping(resolve));
    answer.resolve(frameOf('late'));
    assert.equal((await world.call('/a.B/Echo', frameOf('hello'))).toString(), 'hello!');
  });

  it('cuts active calls off when it closes, and removes its socket', async () => {
    await using world = new World();
    const called = Promise.withResolvers<void>();
    const server = await world.serve({
      '/a.B/Wait': () => {
        called.resolve();
        return Promise.withResolvers<Buffer>().promise;
      },
    });
    const failing = assert.rejects(world.call('/a.B/Wait', frameOf('')), /^GrpcError: 14 UNAVAILABLE: /);
    await called.promise;
    await server.close();
    await failing;
    assert.equal(lstatSync(world.path, { throwIfNoEntry: false }), undefined);
  });
});

describe('the socket of a gRPC server', () => {
  it('can be used by its owner only', async () => {
    await using world = new World();
    await world.serve();
    assert.equal(lstatSync(world.path).mode & 0o777, 0o600);
  });

  it('has its mode from its creation on', async () => {
    await using world = new World();
    // The thread may miss the moment in which a socket is made, so it is tried with several.
    const paths = Array.from({ length: 20 }, (_, index) => `${world.path}-${index}`);
    await using stack = new AsyncDisposableStack();
    const watcher = new Worker(firstModes, { eval: true, workerData: paths });
    stack.defer(async () => void (await watcher.terminate()));
    for (const path of paths) {
      const seen = once(watcher, 'message');
      const server = await serveUnary({ path, methods: {}, maxMessageBytes: 1000 });
      stack.defer(() => server.close());
      assert.deepEqual(await seen, [0o600]);
    }
  });

  it('is not taken from a server that still serves it', async () => {
    await using world = new World();
    await world.serve();
    await assert.rejects(world.serve(), { message: `${world.path} is served by another program` });
    await removeUnservedSocket(world.path);
    assert.equal((await world.call('/a.B/Echo', frameOf('hello'))).toString(), 'hello!');
  });

  it('is replaced or removed if a killed server left it', async () => {
    await using world = new World();
    await leaveSocket(world.path);
    await world.serve();
    assert.equal((await world.call('/a.B/Echo', frameOf('hello'))).toString(), 'hello!');
    const left = `${world.path}.left`;
    await leaveSocket(left);
    await removeUnservedSocket(left);
    assert.equal(lstatSync(left, { throwIfNoEntry: false }), undefined);
  });

  it('does not replace a file', async () => {
    await using world = new World();
    writeFileSync(world.path, 'data');
    await assert.rejects(world.serve(), { message: `${world.path} is no socket: move it away` });
    await removeUnservedSocket(world.path);
    assert.ok(lstatSync(world.path).isFile());
  });
});
