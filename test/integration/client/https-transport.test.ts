/**
 * The HTTPS transport and the node agents' transport against real sockets: certificates, broken connections,
 * streams that end.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as http from 'node:http';
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { replaceable } from '../../../src/base/current.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import { createHttpsTransport, type HttpsTransportOptions } from '../../../src/client/https-transport.ts';
import type { ApiResponse, Transport } from '../../../src/client/transport.ts';
import { isTransportError } from '../../../src/client/transport-error.ts';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;
type Connect = (options?: Partial<HttpsTransportOptions>) => Transport;

const hour = 3_600_000;
/** The clock is moved by a test, so no ping would be answered in time. */
const withoutPings = (options: HttpsTransportOptions) =>
  createHttp2Transport({ ...options, pingMs: 24 * hour });
const transports = { 'HTTP/1.1': createHttpsTransport, 'HTTP/2': withoutPings };

const clock = new FakeClock();
const open: (() => Promise<void>)[] = [];
let authority: KeyAndCertificate;
let other: KeyAndCertificate;
let serving: KeyAndCertificate;
let user: KeyAndCertificate;
let handler: Handler = () => {};
let connections = 0;
let port = 0;

before(async () => {
  const now = Date.now();
  const validity = { notBefore: now - hour, notAfter: now + hour };
  authority = await createAuthority('test', now - hour, now + hour);
  other = await createAuthority('other', now - hour, now + hour);
  const server = { commonName: 'server', hosts: ['127.0.0.1', 'api.test'], usages: ['server'] as const };
  serving = await issueCertificate(authority, { ...server, ...validity });
  user = await issueCertificate(authority, { commonName: 'alice', usages: ['client'], ...validity });
  const listener = http2.createSecureServer(
    {
      allowHTTP1: true,
      key: serving.key,
      cert: serving.certificate,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => handler(...([request, response] as unknown as Parameters<Handler>)),
  );
  listener.on('secureConnection', () => connections++);
  port = await listen(listener);
});

after(async () => {
  for (const close of open) await close();
});

/** Returns the address of a server whose certificate is valid in that time, in milliseconds. */
async function servedWith(validity: { readonly notBefore: number; readonly notAfter: number }) {
  const subject = { commonName: 'server', hosts: ['127.0.0.1'], usages: ['server'] as const };
  const { key, certificate: cert } = await issueCertificate(authority, { ...subject, ...validity });
  return `https://127.0.0.1:${await listen(http2.createSecureServer({ allowHTTP1: true, key, cert }))}`;
}

async function listen(server: http.Server | http2.Http2SecureServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

function connectBy(
  create: (options: HttpsTransportOptions) => Transport,
  options: Partial<HttpsTransportOptions> = {},
): Transport {
  const server = `https://127.0.0.1:${port}`;
  const transport = create({ server, ca: authority.certificate, clock, ...options });
  open.unshift(async () => transport.close());
  return transport;
}

/** Destroys the connection of a request at once. */
function drop(request: http.IncomingMessage): void {
  const { stream } = request as unknown as { readonly stream?: http2.ServerHttp2Stream };
  if (stream) stream.session?.destroy();
  else request.socket.destroy();
}

async function text(response: ApiResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const get = async (transport: Transport, path = '/version') =>
  text(await transport.request({ method: 'GET', path }));

for (const [name, create] of Object.entries(transports)) {
  describe(name, () => suite((options) => connectBy(create, options)));
}

test('plain HTTP is supported, with HTTP/1.1', async () => {
  const plain = await listen(http.createServer((_, response) => response.end('plain')));
  const server = `http://127.0.0.1:${plain}`;
  assert.equal(await get(connectBy(createHttpsTransport, { server })), 'plain');
});

test('a silent connection of HTTP/2 is replaced, and an active one is kept', async () => {
  let silent = true;
  let push = () => {};
  const asked: (() => void)[] = [];
  handler = (request, response) => {
    if (request.url === '/watch') push = () => response.write('event');
    else if (silent) return asked.pop()?.();
    else return void response.end('here');
    push();
  };
  const transport = connectBy(withoutPings);
  connections = 0;
  const late = async (meanwhile: () => Promise<void>) => {
    const reached = new Promise<void>((resolve) => asked.push(resolve));
    const waiting = assert.rejects(get(transport), { failure: 'timeout', message: /no answer within 65 s$/ });
    await reached;
    await clock.advance(1_000);
    await meanwhile();
    await clock.advance(64_000);
    await waiting;
  };
  const watch = (await transport.request({ method: 'GET', path: '/watch' })).body[Symbol.asyncIterator]();
  await watch.next();
  await late(async () => {
    push();
    await watch.next();
  });
  silent = false;
  assert.equal(await get(transport), 'here');
  assert.equal(connections, 1);

  silent = true;
  await clock.advance(1_000);
  const ended = assert.rejects(watch.next(), { failure: 'timeout' });
  await late(async () => {});
  await ended;
  silent = false;
  assert.equal(await get(transport), 'here');
  assert.equal(connections, 2);
});

function suite(connect: Connect): void {
  test('a client certificate authenticates, and one connection serves many requests', async () => {
    handler = (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.end(`${request.method} ${request.url} ${subject?.CN}`);
    };
    const transport = connect({ cert: user.certificate, key: user.key });
    connections = 0;
    for (let i = 0; i < 10; i++) assert.equal(await get(transport, `/api?i=${i}`), `GET /api?i=${i} alice`);
    assert.equal(connections, 1);
    // A stream ends a little later than its body.
    await clock.settle();
    assert.equal(clock.pending, 0);
  });

  test('each request has the current token and the length of its body', async () => {
    handler = (request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.setHeader('X-One', 'a');
        response.statusCode = 201;
        const { authorization, 'content-length': length, 'user-agent': agent } = request.headers;
        response.end(JSON.stringify([authorization, length, agent, body, request.url]));
      });
    };
    let token = 'first';
    const server = `https://127.0.0.1:${port}/prefix/`;
    const transport = connect({ server, token: () => token, userAgent: 'minik8s/0' });
    const post = () => transport.request({ method: 'POST', path: '/x', body: '{"ä":1}' });
    const response = await post();
    assert.deepEqual(
      [response.status, response.header('x-one'), response.header('X-Two')],
      [201, 'a', undefined],
    );
    assert.deepEqual(JSON.parse(await text(response)), [
      'Bearer first',
      '8',
      'minik8s/0',
      '{"ä":1}',
      '/prefix/x',
    ]);
    token = 'second';
    assert.match(await text(await post()), /Bearer second/);
  });

  test('the error of an unreachable server is one line with the server and without secrets', async () => {
    const plain = await listen(http.createServer((_, response) => response.end('plain')));
    const now = Date.now();
    const cases: readonly [Partial<HttpsTransportOptions>, string, string][] = [
      [
        { server: 'https://127.0.0.1:1' },
        'refused',
        'https://127.0.0.1:1: connection refused; is it running?',
      ],
      [{ ca: other.certificate }, 'tls', 'its certificate is not signed by the given authority'],
      [{ tlsServerName: 'elsewhere.test' }, 'tls', 'its certificate is not for this host name'],
      [{ server: `https://127.0.0.1:${plain}` }, 'tls', 'it does not speak TLS'],
      [
        { server: await servedWith({ notBefore: now - 2 * hour, notAfter: now - hour }) },
        'tls',
        'its certificate has expired; check the clocks',
      ],
      [
        { server: await servedWith({ notBefore: now + hour, notAfter: now + 2 * hour }) },
        'tls',
        'its certificate is not valid yet; check the clocks',
      ],
    ];
    for (const [options, failure, message] of cases) {
      await assert.rejects(get(connect({ token: 'very-secret', ...options })), (error) => {
        assert.ok(isTransportError(error), String(error));
        assert.ok(
          error.message.startsWith('cannot reach the API server at https://127.0.0.1:'),
          error.message,
        );
        assert.ok(error.message.endsWith(message), error.message);
        assert.equal(error.failure, failure, error.message);
        assert.doesNotMatch(error.message, /very-secret|\n/);
        return true;
      });
    }
    assert.equal(clock.pending, 0);
  });

  test('the certificate is verified for tlsServerName, or not at all if that is requested', async () => {
    handler = (_, response) => response.end('hello');
    assert.equal(await get(connect({ tlsServerName: 'api.test' })), 'hello');
    assert.equal(await get(connect({ ca: other.certificate, insecureSkipTlsVerify: true })), 'hello');
  });

  test('invalid server addresses are rejected when the transport is created', () => {
    for (const server of ['127.0.0.1', 'ftp://x', ''])
      assert.throws(() => connect({ server }), /write https:\/\/host:port/);
    assert.throws(
      () => connect({ server: 'https://me:secret@010.1.1.1:6443' }),
      ({ message }: Error) => {
        assert.equal(
          message,
          'server https://8.1.1.1:6443 is written in an unusual form: write the IPv4 address as four decimal numbers',
        );
        return true;
      },
    );
  });

  test('a connection that breaks is a reset, before the answer and within it', async () => {
    handler = (request) => drop(request);
    await assert.rejects(get(connect()), { failure: 'reset' });
    handler = (request, response) => {
      response.write('half');
      setImmediate(() => drop(request));
    };
    await assert.rejects(get(connect()), { failure: 'reset' });
  });

  test('an answer that does not begin in time is aborted; a stream that has begun has no timeout', async () => {
    const seen = Promise.withResolvers<void>();
    handler = () => seen.resolve();
    const waiting = assert.rejects(get(connect()), { failure: 'timeout', message: /no answer within 65 s$/ });
    await seen.promise;
    await clock.advance(65_000);
    await waiting;

    let finish = () => {};
    handler = (_, response) => {
      response.write('a');
      finish = () => response.end('b');
    };
    const response = await connect().request({ method: 'GET', path: '/watch' });
    await clock.advance(3_600_000);
    finish();
    assert.equal(await text(response), 'ab');
  });

  test('an abort ends the stream at once, and the server is notified', async () => {
    const gone = Promise.withResolvers<void>();
    handler = (_, response) => {
      response.write('event\n');
      response.on('close', () => gone.resolve());
    };
    const abort = new AbortController();
    const response = await connect().request({ method: 'GET', path: '/watch', signal: abort.signal });
    const received: string[] = [];
    const reading = (async () => {
      for await (const chunk of response.body) {
        received.push(Buffer.from(chunk).toString());
        setImmediate(() => abort.abort());
      }
    })();
    await assert.rejects(reading, { name: 'AbortError' });
    await gone.promise;
    assert.deepEqual(received, ['event\n'], 'what was written was there at once');
  });

  test('an abort before the answer ends the request', async () => {
    const abort = new AbortController();
    handler = () => abort.abort();
    const asked = connect().request({ method: 'GET', path: '/', signal: abort.signal });
    await assert.rejects(asked, { name: 'AbortError' });
    await assert.rejects(connect().request({ method: 'GET', path: '/', signal: abort.signal }), {
      name: 'AbortError',
    });
    assert.equal(clock.pending, 0);
  });

  test('a closed transport ends its streams and accepts no more requests', async () => {
    handler = (_, response) => void response.write('x');
    const transport = connect();
    const response = await transport.request({ method: 'GET', path: '/watch' });
    const reading = assert.rejects(text(response), isTransportError);
    transport.close();
    await reading;
    await assert.rejects(get(transport), { failure: 'closed' });
  });

  test('a renewed certificate is used from the next request on, and requests in flight are not disturbed', async () => {
    const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
    const named = (commonName: string) =>
      issueCertificate(authority, { commonName, usages: ['client'], ...validity });
    const identity = replaceable(await named('old'));
    let push = (_: string) => {};
    handler = (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      if (request.url !== '/watch') return void response.end(subject?.CN);
      push = (text) => response.write(text);
      push(`${subject?.CN}`);
    };
    const transport = connect({ identity });
    const stream = (await transport.request({ method: 'GET', path: '/watch' })).body[Symbol.asyncIterator]();
    assert.equal(String((await stream.next()).value), 'old');
    assert.equal(await get(transport), 'old');
    identity.replace(await named('new'));
    assert.equal(await get(transport), 'new');
    push('still there');
    assert.equal(String((await stream.next()).value), 'still there');
    transport.close();
    await assert.rejects(stream.next(), isTransportError);
  });

  test('an error contains whether the server may have received the request', async () => {
    const unsent = async (request: Promise<unknown>) => {
      const error = await request.then(
        () => assert.fail('it was answered'),
        (reason: unknown) => reason,
      );
      assert.ok(isTransportError(error));
      return error.unsent;
    };
    handler = drop;
    assert.equal(await unsent(get(connect({ server: 'https://127.0.0.1:1' }))), true);
    assert.equal(await unsent(get(connect({ ca: other.certificate }))), true);
    assert.equal(await unsent(get(connect())), false);
  });
}
