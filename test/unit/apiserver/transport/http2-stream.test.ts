/** A request and its answer on an HTTP/2 stream, between a client and a server of the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type Duplex, duplexPair } from 'node:stream';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Answer, serveHttp2Stream } from '../../../../src/apiserver/transport/http2-stream.ts';
import type { Sink, Source } from '../../../../src/apiserver/transport/pushed-body.ts';
import { WholeAnswer } from '../../../../src/apiserver/transport/whole-answer.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

let client: ClientHttp2Session;
let server: ServerHttp2Session;
let ends: readonly [Duplex, Duplex];
let answer: Answer;
let clock: FakeClock;
const stalledMs = 60_000;
/** One promise for each stream; resolves when the stream has been served. */
let served: Promise<void>[];
let serverStreams: ServerHttp2Stream[];
beforeEach(() => {
  served = [];
  serverStreams = [];
  clock = new FakeClock();
  const patience = { clock, stalledMs };
  answer = async () => new WholeAnswer(200, 'said', {});
  ends = duplexPair();
  server = performServerHandshake(ends[1]);
  server.on('error', () => undefined);
  server.on('stream', (stream, headers, _flags, raw) => {
    serverStreams.push(stream);
    served.push(serveHttp2Stream(stream, headers, raw, (request, way) => answer(request, way), patience));
  });
  client = connect('https://master:6443', { createConnection: () => ends[0] });
  client.on('error', () => undefined);
});
afterEach(() => {
  client.destroy();
  server.destroy();
});

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly pieces: readonly number[];
  readonly text: string;
}

function open(headers: OutgoingHttpHeaders, endStream = true): ClientHttp2Stream {
  const stream = client.request(headers, { endStream });
  stream.on('error', () => undefined);
  return stream;
}

/** Resolves when the stream is closed, with or without an error. */
const closeOf = (stream: ClientHttp2Stream) =>
  new Promise<void>((resolve) => {
    if (stream.destroyed) resolve();
    else stream.once('close', resolve);
  });

async function read(stream: ClientHttp2Stream): Promise<Answered> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  return { status: headers[':status'], headers, pieces: pieces.map(({ length }) => length), text };
}

test('a request arrives as sent', async () => {
  let seen: Request | undefined;
  answer = async (request) => {
    seen = request;
    return new WholeAnswer(201, await request.text(), { 'audit-id': 'a', connection: 'close' });
  };
  const headers = { ':method': 'POST', ':path': '/api/v1/nodes?a=b', accept: 'x', 'x-many': ['1', '2'] };
  const stream = open(headers, false);
  stream.write('some ');
  stream.end('words');
  const { status, headers: fields, text } = await read(stream);
  assert.deepEqual([seen?.method, seen?.url], ['POST', 'https://master:6443/api/v1/nodes?a=b']);
  assert.deepEqual([seen?.headers.get('accept'), seen?.headers.get('x-many')], ['x', '1, 2']);
  assert.deepEqual(
    [status, text, fields['audit-id'], fields.connection],
    [201, 'some words', 'a', undefined],
  );
});

test('a response without a body has none', async () => {
  let body: unknown = '';
  answer = async (request) => {
    body = request.body;
    return new WholeAnswer(200, '', {});
  };
  assert.deepEqual([(await read(open({ ':path': '/' }))).text, body], ['', null]);
});

for (const [what, headers, fault] of [
  ['an impossible method', { ':method': 'TRACE' }, /has a method, a URL or a header field/],
  ['an impossible URL', { ':authority': 'a:b' }, /has a method, a URL or a header field/],
  ['a path with ..', { ':path': '/api/v1/pods/..' }, /has a segment \. or \.\./],
  ['a path without /', { ':method': 'OPTIONS', ':path': '*' }, /does not begin with \//],
  ['another Host than its authority', { ':authority': 'master', host: 'other' }, /names another host/],
] as const)
  test(`a request with ${what} is answered with 400`, async () => {
    answer = () => assert.fail('it was passed on');
    const { status, text } = await read(open({ ':path': '/', ...headers }));
    assert.equal(status, 400);
    assert.match(text, fault);
  });

for (const [what, headers] of [
  ['a path that is a URL', { ':path': 'https://other/api' }],
  ['a user in its URL', { ':authority': 'a:b@master' }],
] as const)
  test(`the stream of a request with ${what} is ended`, async () => {
    answer = () => assert.fail('it was passed on');
    const stream = open({ ':path': '/', ...headers });
    await closeOf(stream);
    assert.equal(stream.rstCode, constants.NGHTTP2_PROTOCOL_ERROR);
  });

test('a request with a Host that is its authority is passed on', async () => {
  const headers = { ':path': '/', ':authority': 'master', host: 'master' };
  assert.equal((await read(open(headers))).status, 200);
});

test('an answer is sent without the header fields for connections of HTTP/1.1', async () => {
  const fields = { 'keep-alive': 'timeout=5', upgrade: 'h2c', 'x-own': 'a' };
  answer = async () => new WholeAnswer(200, 'said', fields);
  const { headers } = await read(open({ ':path': '/' }));
  assert.deepEqual([headers['keep-alive'], headers.upgrade, headers['x-own']], [undefined, undefined, 'a']);
});

test('an answer to HEAD has no body', async () => {
  assert.deepEqual((await read(open({ ':path': '/', ':method': 'HEAD' }))).text, '');
  await Promise.all(served);
});

test('an answer that is not read for a minute is cut off', async () => {
  answer = async () => new WholeAnswer(200, 'x'.repeat(1024 * 1024), {});
  const stream = open({ ':path': '/' });
  await once(stream, 'response');
  // The client's window is full by the first minute at the latest.
  await clock.advance(stalledMs);
  await clock.advance(stalledMs);
  stream.resume();
  await closeOf(stream);
  assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
  await Promise.all(served);
});

test('an answer that is read leaves no timer', async () => {
  answer = async () => new WholeAnswer(200, 'x'.repeat(1024 * 1024), {});
  await read(open({ ':path': '/' }));
  await Promise.all(served);
  assert.equal(clock.pending, 0);
});

describe('an answer', () => {
  const size = 20_000;
  const whole = 'x'.repeat(size);
  for (const [what, make] of [
    ['of text', () => new WholeAnswer(200, whole, {})],
    ['of bytes', () => new WholeAnswer(200, Buffer.from(whole), {})],
    ['that is read', () => new Response(whole)],
  ] as const)
    test(`${what} arrives completely`, async () => {
      answer = async () => make();
      assert.equal((await read(open({ ':path': '/' }))).text, whole);
      await Promise.all(served);
    });

  test('without a body ends the stream at once', async () => {
    answer = async () => new Response(null, { status: 204 });
    assert.deepEqual([(await read(open({ ':path': '/' }))).status, served.length], [204, 1]);
  });

  test('ends the stream without an error if the request is not complete', async () => {
    const stream = open({ ':path': '/', ':method': 'POST' }, false);
    stream.write('beginning');
    const { status, text } = await read(stream);
    assert.deepEqual([status, text], [200, 'said']);
    await closeOf(stream);
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
  });

  test('releases its resources if it is cut off', async () => {
    answer = async () => {
      const pieces = async function* () {
        yield Buffer.from('beginning');
        throw new Error('broken');
      };
      return new Response(ReadableStream.from(pieces()) as ReadableStream<Uint8Array>);
    };
    const stream = open({ ':path': '/' });
    // A client would take the partial body for the whole one after `end`.
    stream.once('end', () => assert.fail('it ended'));
    stream.resume();
    await closeOf(stream);
    assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    await Promise.all(served);
  });

  test('is dropped if the client has disconnected, and the signal of the request aborts', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const cancelled = Promise.withResolvers<void>();
    const closed: string[] = [];
    answer = async ({ signal }, { onClosed }) => {
      onClosed?.(() => closed.push('while it was open'));
      asked.resolve(signal);
      await once(signal, 'abort');
      onClosed?.(() => closed.push('and after'));
      return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
    };
    const stream = open({ ':path': '/' });
    const signal = await asked.promise;
    assert.equal(signal.aborted, false);
    stream.close(constants.NGHTTP2_CANCEL);
    await cancelled.promise;
    assert.equal((signal.reason as Error).name, 'AbortError');
    assert.deepEqual(closed, ['while it was open', 'and after']);
    await Promise.all(served);
  });
});

describe('an answer that writes itself', () => {
  class Watch implements Source {
    sink: Sink | undefined;
    readonly left = Promise.withResolvers<void>();
    begin(sink: Sink): void {
      this.sink = sink;
    }
    cancel(): void {
      this.left.resolve();
    }
  }

  async function begin() {
    const watch = new Watch();
    let signal: AbortSignal | undefined;
    answer = async (request, { push }) => {
      signal = request.signal;
      push?.(watch);
      return new Response(null, { headers: { 'content-type': 'application/json' } });
    };
    const stream = open({ ':path': '/' });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    assert.equal(headers['content-type'], 'application/json');
    return { watch, sink: watch.sink ?? assert.fail('it has not begun'), stream, signal };
  }

  test('is sent piece by piece as it is written, until it ends', async () => {
    const { sink, stream } = await begin();
    const ended = once(stream, 'end');
    const pieces: string[] = [];
    stream.on('data', (piece) => pieces.push(String(piece)));
    const first = once(stream, 'data');
    sink.write(Buffer.from('one'));
    await first;
    assert.deepEqual(pieces, ['one']);
    sink.write(Buffer.from('two'));
    sink.end();
    await ended;
    assert.equal(pieces.join(''), 'onetwo');
  });

  test('is notified when its reader disconnects, and the request is not notified', async () => {
    const { watch, stream, signal } = await begin();
    stream.close(constants.NGHTTP2_CANCEL);
    await watch.left.promise;
    assert.equal(signal?.aborted, false);
  });

  test('waits for a client that does not read, and counts the queued bytes', async () => {
    const { sink, stream } = await begin();
    assert.equal(sink.backlog, 0);
    await sink.room();
    stream.pause();
    const size = 1024 * 1024;
    sink.write(Buffer.alloc(size));
    assert.ok(sink.backlog > 0);
    let roomy = false;
    const room = sink.room().then(() => {
      roomy = true;
    });
    await setImmediate();
    assert.equal(roomy, false);
    stream.resume();
    await room;
    assert.equal(sink.backlog, 0);
  });

  test('ends the connection of a client that reads too slowly', async () => {
    const { sink, stream, watch } = await begin();
    stream.resume();
    sink.write(Buffer.from('one'));
    sink.cut();
    await watch.left.promise;
    await closeOf(stream);
    assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
  });
});

test('is not sent if its handler refuses the stream', async () => {
  answer = async () => {
    serverStreams[0]?.close(constants.NGHTTP2_REFUSED_STREAM);
    return new Response(null, { status: 503 });
  };
  const stream = open({ ':path': '/' });
  await closeOf(stream);
  assert.equal(stream.rstCode, constants.NGHTTP2_REFUSED_STREAM);
  await assert.doesNotReject(Promise.all(served));
});

test('is incomplete for the client if its handler aborts it, and the connection remains usable', async () => {
  answer = async ({ url }, way) => {
    if (url.endsWith('/cut')) way.hangUp?.();
    return new WholeAnswer(200, 'said', {});
  };
  const cut = open({ ':path': '/cut' });
  // Reads all data, so that a stream that is not cut off closes, too.
  cut.resume();
  await closeOf(cut);
  assert.equal(cut.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
  assert.equal((await read(open({ ':path': '/whole' }))).text, 'said');
});
