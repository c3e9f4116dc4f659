/** Limits that the listener enforces for HTTP/2 clients, over real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { describe, it, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

async function start(t: TestContext, options: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
  const server = await startHttpsTestServer(options);
  t.after(() => server.stop());
  return server;
}

/**
 * Dials the server. `groups` are the groups of the client certificate; without them the client has no
 * certificate.
 */
async function dial(t: TestContext, server: HttpsTestServer, groups?: readonly string[]): Promise<TLSSocket> {
  const own = groups && (await server.clientCertificate('client', groups));
  const socket = connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.authority.certificate,
    ...(own && { key: own.key, cert: own.certificate }),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

interface Session {
  readonly session: ClientHttp2Session;
  open(headers: OutgoingHttpHeaders): ClientHttp2Stream;
  /** Resolves with the status, or with the code of the error that ended the stream. */
  ask(headers: OutgoingHttpHeaders): Promise<number>;
}

async function speak(
  t: TestContext,
  server: HttpsTestServer,
  groups?: readonly string[],
  options: ClientSessionOptions = {},
): Promise<Session> {
  const socket = await dial(t, server, groups);
  const session = connectHttp2('https://127.0.0.1', { ...options, createConnection: () => socket });
  session.on('error', () => undefined);
  const open = (headers: OutgoingHttpHeaders) => {
    const stream = session.request(headers);
    stream.on('error', () => undefined);
    return stream;
  };
  const ask = (headers: OutgoingHttpHeaders) =>
    new Promise<number>((resolve) => {
      const stream = open(headers);
      stream.once('response', (answer: IncomingHttpHeaders & { ':status'?: number }) => {
        stream.resume();
        resolve(answer[':status'] ?? 0);
      });
      stream.once('close', () => resolve(stream.rstCode ?? 0));
    });
  return { session, open, ask };
}

/** Resolves with the code of the GOAWAY before the end of the session; undefined without a GOAWAY. */
async function endOf(session: ClientHttp2Session): Promise<number | undefined> {
  let code: number | undefined;
  session.on('goaway', (found: number) => {
    code = found;
  });
  if (!session.destroyed) await new Promise<void>((resolve) => session.once('close', resolve));
  return code;
}

/** Resolves when that many bytes of the stream have been read; the rest is left unread. */
async function readBytes(stream: ClientHttp2Stream, count: number): Promise<void> {
  let left = count;
  const read = (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) stream.pause();
  };
  stream.on('data', read);
  await once(stream, 'pause');
  stream.off('data', read);
}

const masters = ['system:masters'];

describe('a connection of HTTP/2', () => {
  for (const [who, groups, streams] of [
    ['a node', ['system:nodes'], 2200],
    ['a user', masters, 100],
    ['a stranger', undefined, 100],
  ] as const)
    it(`of ${who} has at most ${streams} streams`, async (t) => {
      const { session } = await speak(t, await start(t), groups);
      const [settings] = (await once(session, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
      assert.equal(settings.maxConcurrentStreams, streams);
    });

  it('of an anonymous client has one request authenticated, and its other requests are rejected unread', async (t) => {
    let asked = 0;
    const server = await start(t, {
      authenticate: async () => {
        asked++;
        // Simulates the lookup of a token: the other requests arrive meanwhile.
        await new Promise(setImmediate);
        return undefined;
      },
    });
    const { session, ask } = await speak(t, server);
    const headers = { ':path': maps, authorization: 'Bearer wrong' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(headers)));
    const refused = Array(4).fill(NGHTTP2_REFUSED_STREAM);
    assert.deepEqual([answers, asked], [[401, ...refused], 1]);
    assert.equal(await endOf(session), NGHTTP2_NO_ERROR);
  });

  it('of a client with a token answers all its requests once the first is authenticated', async (t) => {
    const server = await start(t, { authenticate: () => ({ name: 'somebody', groups: masters }) });
    const { ask } = await speak(t, server);
    const headers = { ':path': maps, authorization: 'Bearer right' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(headers)));
    assert.deepEqual(answers, Array(5).fill(200));
    assert.equal(await ask(headers), 200);
  });

  it('closes the stream of a list that is not read, and keeps the other streams', async (t) => {
    const limits = { requests: 2, watches: 2 };
    const server = await start(t, { listen: { stalledMs: 1000 }, limits });
    for (let number = 0; number < 5; number++) {
      const data = { text: 'x'.repeat(200_000) };
      await server.call('POST', maps, { metadata: { name: `large-${number}` }, data });
    }
    const { open, ask } = await speak(t, server, masters);
    const watch = open({ ':path': '/api/v1/namespaces/default/secrets?watch=true' });
    await once(watch, 'response');
    const list = open({ ':path': maps });
    await once(list, 'response');
    const closed = new Promise((resolve) => list.once('close', resolve));
    // The slot of the list is free again, even while its client has stopped reading.
    while ((await ask({ ':path': `${maps}/large-1` })) === 429) await new Promise(setImmediate);
    list.resume();
    await closed;
    assert.equal(list.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    assert.equal(watch.destroyed, false);
  });

  it('answers other requests while its watches have much unread data', async (t) => {
    const server = await start(t);
    const { open, ask } = await speak(t, server, masters);
    const watches = [1, 2, 3].map(() => open({ ':path': `${maps}?watch=true` }));
    await Promise.all(watches.map((watch) => once(watch, 'response')));
    const data = { text: 'x'.repeat(1_000_000) };
    for (let number = 0; number < 7; number++)
      await server.call('POST', maps, { metadata: { name: `large-${number}` }, data });
    // The server sends the rest when the first event has been read.
    for (const watch of watches) await readBytes(watch, 1_500_000);
    const paths = ['/livez', `${maps}/large-1`];
    assert.deepEqual(await Promise.all(paths.map((path) => ask({ ':path': path }))), [200, 200]);
    for (const watch of watches) watch.close(NGHTTP2_CANCEL);
  });

  it('ends when its client opens and cancels streams again and again', async (t) => {
    const { session, open, ask } = await speak(t, await start(t), masters);
    const burst = (streams: number) => {
      for (let number = 0; number < streams && !session.destroyed; number++)
        open({ ':path': maps }).close(NGHTTP2_CANCEL);
    };
    burst(500);
    assert.equal(await ask({ ':path': '/livez' }), 200);
    const ended = endOf(session);
    while (!session.destroyed) {
      burst(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
  });

  it('ends when its client sends too many PING frames', async (t) => {
    const server = await start(t);
    const { session, ask } = await speak(t, server, masters, { maxOutstandingPings: 1000 });
    const ping = () =>
      session.ping(() => {
        // The answer does not matter.
      });
    for (let number = 0; number < 100; number++) ping();
    assert.equal(await ask({ ':path': '/livez' }), 200);
    const ended = endOf(session);
    for (let number = 0; number < 200; number++) ping();
    assert.equal(await ended, NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it('ends when its client sends too many SETTINGS frames', async (t) => {
    const socket = await dial(t, await start(t), masters);
    const closed = new Promise((resolve) => socket.resume().once('close', resolve));
    socket.write(preface);
    for (let number = 0; number < 300; number++) socket.write(frame({ type: 4, stream: 0 }));
    await closed;
  });

  it('ends when the headers of a request are endless', async (t) => {
    const socket = await dial(t, await start(t), masters);
    const closed = new Promise((resolve) => socket.resume().once('close', resolve));
    socket.write(Buffer.concat([preface, frame({ type: 4, stream: 0 }), frame({ type: 1, stream: 1 })]));
    for (let number = 0; number < 20; number++) socket.write(frame({ type: 9, stream: 1 }));
    await closed;
  });

  it('refuses a request with a head of more than 64 KiB, and answers the next', async (t) => {
    const { ask } = await speak(t, await start(t), masters, { maxSendHeaderBlockLength: 1024 * 1024 });
    const long = (bytes: number) => ({ 'x-a': 'x'.repeat(bytes / 2), 'x-b': 'y'.repeat(bytes / 2) });
    assert.equal(await ask({ ':path': '/livez', ...long(40_000) }), 200);
    assert.equal(await ask({ ':path': '/livez', ...long(80_000) }), NGHTTP2_ENHANCE_YOUR_CALM);
    assert.equal(await ask({ ':path': '/livez' }), 200);
  });
});

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Returns an empty frame without flags (RFC 9113 §4.1). */
function frame({ type, stream }: { readonly type: number; readonly stream: number }): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(type, 3);
  bytes.writeUInt32BE(stream, 5);
  return bytes;
}
