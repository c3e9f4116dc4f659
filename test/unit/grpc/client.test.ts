/** Calls and streams of the gRPC client, on a connection to a real HTTP/2 server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { describe, it } from 'node:test';
import type { GrpcClient } from '../../../src/grpc/client.ts';
import type { GrpcError } from '../../../src/grpc/status.ts';
import { answerWith, frameOf, Rig } from './rig.ts';

const path = '/test.Service/Method';
const question = frameOf('question');

const failsWith = (promise: Promise<unknown>, message: RegExp) =>
  assert.rejects(promise, (error: GrpcError) => {
    assert.equal(error.name, 'GrpcError');
    assert.match(error.message, message);
    return true;
  });

/** Reads what the client sends until it ends its side. */
async function bodyOf(stream: ServerHttp2Stream): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>));
}

/** Resolves to the code with which the client has reset the stream. */
async function resetCode(stream: ServerHttp2Stream): Promise<number> {
  stream.resume();
  if (!stream.closed) await once(stream, 'close');
  return stream.rstCode;
}

describe('a gRPC call', () => {
  it('is a POST with its message, and resolves to the message of the answer', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client({ userAgent: 'test/1' }).call(path, question, 1500.5);
    const { stream, headers } = await rig.nextCall();
    assert.deepEqual(await bodyOf(stream), question);
    answerWith(stream, [frameOf('answer')]);
    assert.equal((await calling).toString(), 'answer');
    assert.equal(headers[':method'], 'POST');
    assert.equal(headers[':path'], path);
    assert.equal(headers.te, 'trailers');
    assert.equal(headers['content-type'], 'application/grpc');
    assert.equal(headers['user-agent'], 'test/1');
    assert.equal(headers['grpc-timeout'], '1501m');
  });

  it('leaves no timer after its answer', async () => {
    await using rig = await Rig.withServer();
    const client = rig.client();
    for (let count = 0; count < 2; count++) {
      const calling = client.call(path, question, 1000);
      answerWith((await rig.nextCall()).stream, [frameOf('')]);
      await calling;
    }
    // The timer of the next probe of the connection.
    assert.equal(rig.clock.pending, 1);
    assert.equal(rig.clock.nextIn, 10_000);
  });

  it('puts an answer together from DATA frames that split its head and its message', async () => {
    await using rig = await Rig.withServer();
    const message = Buffer.alloc(100_000, 'abc');
    const frame = frameOf(message);
    const calling = rig.client().call(path, question, 1000);
    const { stream } = await rig.nextCall();
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    for (const [start, end] of [
      [0, 2],
      [2, 5],
      [5, 6],
      [6, 70_000],
      [70_000, frame.length],
    ] as const)
      await new Promise((resolve) => stream.write(frame.subarray(start, end), resolve));
    stream.end();
    assert.deepEqual(await calling, message);
  });

  it('fails with the status of an answer of trailers only', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client().call(path, question, 1000);
    const { stream } = await rig.nextCall();
    const trailers = { ':status': 200, 'grpc-status': '5', 'grpc-message': 'no%20such%20key' };
    stream.respond(trailers, { endStream: true });
    await failsWith(calling, /^5 NOT_FOUND: no such key$/);
  });

  it('fails when trailers only report a success, because the message is missing', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client().call(path, question, 1000);
    (await rig.nextCall()).stream.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true });
    await failsWith(calling, /^2 UNKNOWN: the answer is empty$/);
  });

  it('fails with the status in the trailers even if a message came before', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client().call(path, question, 1000);
    answerWith((await rig.nextCall()).stream, [frameOf('half')], '13');
    await failsWith(calling, /^13 INTERNAL: why$/);
  });

  it('fails when RST_STREAM cuts its answer, and the connection serves the next call', async () => {
    await using rig = await Rig.withServer();
    const client = rig.client();
    const calling = client.call(path, question, 1000);
    const { stream, session } = await rig.nextCall();
    stream.respond({ ':status': 200 });
    await new Promise((resolve) => stream.write(frameOf('an answer').subarray(0, 8), resolve));
    // Unlike close(), this sends no end of the stream before RST_STREAM.
    stream.destroy(new Error('a failure of the server'));
    await failsWith(calling, /^14 UNAVAILABLE: .*NGHTTP2_INTERNAL_ERROR/);
    const next = client.call(path, question, 1000);
    const second = await rig.nextCall();
    answerWith(second.stream, [frameOf('whole')]);
    assert.equal((await next).toString(), 'whole');
    assert.equal(second.session, session);
  });

  it('fails when the connection ends before the trailers', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client().call(path, question, 1000);
    const { stream, session } = await rig.nextCall();
    stream.respond({ ':status': 200 });
    await new Promise((resolve) => stream.write(frameOf('an answer'), resolve));
    session.destroy();
    await failsWith(calling, /^14 UNAVAILABLE: /);
  });

  it('fails at its deadline and not before, and cancels the stream at a server that never answers', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client().call(path, question, 700);
    let isOver = false;
    const failing = failsWith(calling, /^4 DEADLINE_EXCEEDED: no answer in 700 ms$/).finally(() => {
      isOver = true;
    });
    const { stream } = await rig.nextCall();
    await rig.clock.advance(699);
    assert.equal(isOver, false);
    await rig.clock.advance(1);
    await failing;
    assert.equal(await resetCode(stream), constants.NGHTTP2_CANCEL);
  });

  it('rejects an answer that is too long as soon as its length arrives, and cancels the stream', async () => {
    await using rig = await Rig.withServer();
    const calling = rig.client({ maxMessageBytes: 10 }).call(path, question, 1000);
    const { stream } = await rig.nextCall();
    stream.respond({ ':status': 200 });
    stream.write(frameOf('eleven byte').subarray(0, 5));
    await failsWith(calling, /^8 RESOURCE_EXHAUSTED: Received message larger than max \(11 vs 10\)$/);
    assert.equal(await resetCode(stream), constants.NGHTTP2_CANCEL);
  });
});

describe('a gRPC stream', () => {
  async function opened(rig: Rig, client: GrpcClient = rig.client()) {
    const failures: string[] = [];
    const ended = Promise.withResolvers<void>();
    const stream = client.stream(
      path,
      { 'x-test': 'yes' },
      { onFailure: ({ message }) => failures.push(message), onEnd: () => ended.resolve() },
    );
    stream.send(question);
    const call = await rig.nextCall();
    return { stream, call, failures, ended: ended.promise };
  }

  it('carries messages in both directions until both sides have ended', async () => {
    await using rig = await Rig.withServer();
    const { stream, call, failures, ended } = await opened(rig);
    assert.equal(call.headers['x-test'], 'yes');
    assert.equal(call.headers['grpc-timeout'], undefined);
    stream.send(frameOf('second'));
    stream.endSending();
    assert.deepEqual(await bodyOf(call.stream), Buffer.concat([question, frameOf('second')]));
    answerWith(call.stream, ['a', '', 'c'].map(frameOf));
    assert.deepEqual((await Array.fromAsync(stream.messages())).map(String), ['a', '', 'c']);
    await ended;
    assert.deepEqual(failures, []);
  });

  it('yields messages that do not keep the memory of a larger chunk', async () => {
    await using rig = await Rig.withServer();
    const { stream, call } = await opened(rig);
    answerWith(call.stream, [Buffer.concat([frameOf('small'), frameOf(Buffer.alloc(10_000))])]);
    const [small] = await Array.fromAsync(stream.messages());
    assert.equal(small?.buffer.byteLength, 'small'.length);
  });

  it('reports a failing status to its owner and to the reader', async () => {
    await using rig = await Rig.withServer();
    const { stream, call, failures, ended } = await opened(rig);
    answerWith(call.stream, [frameOf('a')], '14');
    await failsWith(Array.fromAsync(stream.messages()), /^14 UNAVAILABLE: why$/);
    await ended;
    assert.deepEqual(failures, ['14 UNAVAILABLE: why']);
  });

  it('resets its stream when it is canceled, and reports that only to the reader', async () => {
    await using rig = await Rig.withServer();
    const { stream, call, failures, ended } = await opened(rig);
    call.stream.respond({ ':status': 200 });
    const reading = Array.fromAsync(stream.messages());
    stream.cancel();
    await failsWith(reading, /^1 CANCELLED: /);
    assert.equal(await resetCode(call.stream), constants.NGHTTP2_CANCEL);
    await ended;
    assert.deepEqual(failures, []);
    // A message after the end is dropped.
    stream.send(question);
  });

  it('is canceled when its reader stops early', async () => {
    await using rig = await Rig.withServer();
    const { stream, call, failures } = await opened(rig);
    call.stream.respond({ ':status': 200 });
    call.stream.write(frameOf('a'));
    for await (const message of stream.messages()) {
      assert.equal(message.toString(), 'a');
      break;
    }
    assert.equal(await resetCode(call.stream), constants.NGHTTP2_CANCEL);
    assert.deepEqual(failures, []);
  });

  it('that is not read slows its server down, but no call on the same connection', async () => {
    await using rig = await Rig.withServer();
    const client = rig.client();
    const { stream, call } = await opened(rig, client);
    const pieces = 12;
    call.stream.respond({ ':status': 200 }, { waitForTrailers: true });
    call.stream.once('wantTrailers', () => call.stream.sendTrailers({ 'grpc-status': '0' }));
    let sent = 0;
    const sending = Array.from(
      { length: pieces },
      () =>
        new Promise<void>((resolve) => {
          call.stream.write(frameOf(Buffer.alloc(1 << 20)), () => {
            sent++;
            resolve();
          });
        }),
    );
    call.stream.end();
    // This answer is larger than the windows of a stream and of the connection.
    const message = Buffer.alloc(6 << 20, 'x');
    const calling = client.call(path, question, 1000);
    answerWith((await rig.nextCall()).stream, [frameOf(message)]);
    assert.ok(message.equals(await calling), 'the call has its answer');
    assert.ok(sent < pieces, `${sent} of ${pieces} messages were sent although none was read`);
    const received = await Array.fromAsync(stream.messages());
    await Promise.all(sending);
    assert.deepEqual(
      received.map(({ length }) => length),
      Array.from({ length: pieces }, () => 1 << 20),
    );
  });
});
