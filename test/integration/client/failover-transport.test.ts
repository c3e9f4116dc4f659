/**
 * Several API servers behind one transport: real HTTPS servers that stop, hang, break streams and recover.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { createFailoverTransport } from '../../../src/client/failover-transport.ts';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../../src/client/transport.ts';
import { isTransportError } from '../../../src/client/transport-error.ts';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** An API server that answers with its name; `mode` is its behaviour. */
class Server {
  readonly name: string;
  readonly requests: string[] = [];
  mode: 'answer' | 'hang' | 'drop' | 'fail' | 'stream' = 'answer';
  readonly streams = new Set<http.ServerResponse>();
  #listener: https.Server | undefined;
  #port = 0;

  constructor(name: string) {
    this.name = name;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#listener = https.createServer(
      { key: serving.key, cert: serving.certificate },
      (request, response) => {
        this.requests.push(`${request.method} ${request.url}`);
        if (this.mode === 'hang') return;
        if (this.mode === 'drop') return void request.socket.destroy();
        if (this.mode === 'fail') return void response.writeHead(503).end('{}');
        if (this.mode === 'stream') {
          this.streams.add(response);
          return void response.write(`${this.name}\n`);
        }
        response.end(this.name);
      },
    );
    this.#listener.listen(this.#port, '127.0.0.1');
    await once(this.#listener, 'listening');
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#listener = undefined;
    listener.closeAllConnections();
    listener.close();
    await once(listener, 'close');
  }
}

let authority: KeyAndCertificate;
let serving: KeyAndCertificate;
let clock: FakeClock;
let transport: Transport;
const servers = [new Server('one'), new Server('two'), new Server('three')] as const;
const [one, two, three] = servers;

before(async () => {
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  authority = await createAuthority('test', validity.notBefore, validity.notAfter);
  serving = await issueCertificate(authority, {
    commonName: 'server',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    ...validity,
  });
});

beforeEach(async () => {
  transport?.close();
  for (const server of servers) {
    await server.stop();
    server.mode = 'answer';
    server.requests.length = 0;
    await server.start();
  }
  clock = new FakeClock();
  transport = connect(servers.map(({ url }) => url));
});

after(async () => {
  transport.close();
  for (const server of servers) await server.stop();
});

function connect(urls: readonly string[]): Transport {
  const ca = authority.certificate;
  const connectOne = (server: string) => createHttpsTransport({ server, ca, clock });
  return createFailoverTransport({ servers: urls, connect: connectOne, clock, log: silentLogger });
}

async function text({ body }: ApiResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const send = async (method: ApiRequest['method'] = 'GET', path = '/x') =>
  text(await transport.request({ method, path, ...(method !== 'GET' && { body: '{}' }) }));

/** Real sockets answer in real time, while the transport uses the clock of the test. */
async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited for ${what} for 30 s`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('the first server is used; after a failure the next server is used from then on', async () => {
  assert.deepEqual([await send(), await send('POST')], ['one', 'one']);
  await one.stop();
  assert.deepEqual([await send(), await send('POST')], ['two', 'two']);
  await one.start();
  assert.deepEqual([await send(), await send()], ['two', 'two']);
  await two.stop();
  assert.equal(await send(), 'three');
  await three.stop();
  assert.equal(await send(), 'one');
});

test('a write to a server that refuses connections is sent to the next server, once', async () => {
  await one.stop();
  assert.equal(await send('POST'), 'two');
  assert.deepEqual([two.requests, three.requests], [['POST /x'], []]);
});

test('a write that may have been received is not repeated, and the next request uses another server', async () => {
  one.mode = 'drop';
  await assert.rejects(send('POST'), (error) => {
    assert.ok(isTransportError(error));
    assert.deepEqual([error.failure, error.unsent], ['reset', false]);
    return true;
  });
  assert.deepEqual([one.requests, two.requests, three.requests], [['POST /x'], [], []]);
  assert.equal(await send('POST'), 'two');
});

test('a read whose connection is lost is repeated on another server', async () => {
  one.mode = 'drop';
  two.mode = 'drop';
  assert.equal(await send(), 'three');
});

test('a request is not repeated after an HTTP error', async () => {
  one.mode = 'fail';
  const { status, body } = await transport.request({ method: 'GET', path: '/x' });
  for await (const _ of body);
  assert.equal(status, 503);
  assert.deepEqual([one.requests.length, two.requests.length], [1, 0]);
});

test('a stream that breaks fails, and is opened on another server next', async () => {
  for (const server of servers) server.mode = 'stream';
  const response = await transport.request({ method: 'GET', path: '/x?watch=1' });
  const chunks = response.body[Symbol.asyncIterator]();
  assert.equal(String((await chunks.next()).value), 'one\n');
  await one.stop();
  await assert.rejects(chunks.next(), isTransportError);
  const again = await transport.request({ method: 'GET', path: '/x?watch=1' });
  assert.equal(String((await again.body[Symbol.asyncIterator]().next()).value), 'two\n');
});

test('a silent server gets a health check, and is no longer used if the check gets no answer', async () => {
  one.mode = 'stream';
  const stream = await transport.request({ method: 'GET', path: '/watch' });
  const chunks = stream.body[Symbol.asyncIterator]();
  await chunks.next();
  const broken = assert.rejects(chunks.next(), isTransportError);
  one.mode = 'hang';
  const read = send('GET', '/slow');
  const write = assert.rejects(send('PUT', '/write'), (error) => isTransportError(error) && !error.unsent);
  await until('both requests', () => one.requests.length === 3);
  await clock.advance(3_000);
  await until('the health check', () => one.requests.includes('GET /livez'));
  await clock.advance(3_000);
  assert.equal(await read, 'two');
  await write;
  await broken;
  assert.deepEqual(two.requests, ['GET /slow']);
  assert.equal(await send('POST'), 'two');
});

test('a slow server that passes its health check is still used', async () => {
  one.mode = 'hang';
  const slow = send('GET', '/slow');
  await until('the request', () => one.requests.length === 1);
  one.mode = 'answer';
  await clock.advance(3_000);
  await until('the health check', () => one.requests.includes('GET /livez'));
  assert.equal(await send('GET', '/other'), 'one');
  await clock.advance(2_999);
  assert.deepEqual(two.requests, []);
  assert.equal(await Promise.race([slow, Promise.resolve('waits')]), 'waits');
  transport.close();
  await assert.rejects(slow, isTransportError);
});

test('when no server answers the error names all of them with the reasons', async () => {
  for (const server of servers) await server.stop();
  await assert.rejects(send('POST'), (error) => {
    assert.ok(isTransportError(error));
    assert.equal(error.unsent, true);
    for (const { url } of servers) {
      assert.ok(error.message.includes(`${url}: connection refused`), error.message);
    }
    return true;
  });
  await two.start();
  assert.equal(await send('POST'), 'two');
});

test('an aborted request does not change the server in use', async () => {
  one.mode = 'hang';
  const abort = new AbortController();
  const request = transport.request({ method: 'GET', path: '/x', signal: abort.signal });
  await until('the request', () => one.requests.length === 1);
  abort.abort(new DOMException('enough', 'AbortError'));
  await assert.rejects(request, /enough/);
  one.mode = 'answer';
  assert.equal(await send(), 'one');
  assert.equal(clock.pending, 0);
});
