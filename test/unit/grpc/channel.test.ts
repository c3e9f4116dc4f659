import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Channel, describe } from '../../../src/grpc/channel.ts';
import type { GrpcClient } from '../../../src/grpc/client.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { answerWith, frameOf, type ReceivedCall, Rig } from './rig.ts';

const channel = () =>
  new Channel({
    endpoint: 'unix:/proc/no-server',
    tls: {},
    keepaliveMs: 10_000,
    connectMs: 5000,
    clock: new FakeClock(),
  });

for (const close of ['close', 'destroy'] as const)
  test(`a channel opens no stream after ${close}()`, () => {
    const closed = channel();
    closed[close]();
    assert.throws(() => closed.open('/a.B/C', {}), /^GrpcError: 14 UNAVAILABLE: the connection is closed$/);
    assert.equal(closed.wasReady, false);
  });

test('a failure is described by its innermost cause', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:1');
  assert.equal(
    describe(new Error('outer', { cause: new Error('middle', { cause: refused }) })),
    refused.message,
  );
  assert.equal(describe('a text'), 'a text');
});

test('a failure of several addresses contains the errors of all addresses, unless it has a message', () => {
  const errors = [new Error('no route to ::1'), new Error('no route to 127.0.0.1')];
  assert.equal(describe(new AggregateError(errors)), 'no route to ::1, no route to 127.0.0.1');
  assert.equal(describe(new AggregateError(errors, 'all failed')), 'all failed');
});

const path = '/test.Service/Method';
const question = frameOf('question');

/** Calls the next server and answers it. */
async function callAndAnswer(rig: Rig, client: GrpcClient): Promise<ReceivedCall> {
  const calling = client.call(path, question, 1000);
  const call = await rig.nextCall();
  answerWith(call.stream, [frameOf('answer')]);
  assert.equal((await calling).toString(), 'answer');
  return call;
}

test('a connection is made for the first call, and kept for the next', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client();
  assert.equal(client.wasReady, false);
  const { session } = await callAndAnswer(rig, client);
  assert.equal(client.wasReady, true);
  assert.equal((await callAndAnswer(rig, client)).session, session);
});

test('a connection announces windows of 1 MiB for a stream and of 4 MiB for all streams', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client();
  const { session } = await callAndAnswer(rig, client);
  assert.equal(session.remoteSettings.initialWindowSize, 1 << 20);
  assert.equal(session.remoteSettings.enablePush, false);
  const { session: same } = await callAndAnswer(rig, client);
  // The answers have taken a few bytes of it.
  const { remoteWindowSize = 0 } = same.state;
  assert.ok(remoteWindowSize > (4 << 20) - 1024 && remoteWindowSize <= 4 << 20, `${remoteWindowSize}`);
});

test('after GOAWAY active calls end on their connection, which then ends, and further calls use another', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client();
  const first = client.call(path, question, 1000);
  const before = await rig.nextCall();
  const left = once(before.session, 'close');
  // The frame is written before the answer to the ping, so the client has read it then.
  before.session.goaway();
  await new Promise((resolve) => before.session.ping(resolve));
  const { session } = await callAndAnswer(rig, client);
  assert.notEqual(session, before.session);
  answerWith(before.stream, [frameOf('late')]);
  assert.equal((await first).toString(), 'late');
  await left;
  assert.deepEqual([...rig.sessions], [session]);
});

test('a closed channel lets its active call end, and then ends the connection', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client();
  const calling = client.call(path, question, 1000);
  const { stream, session } = await rig.nextCall();
  const left = once(session, 'close');
  client.close();
  answerWith(stream, [frameOf('answer')]);
  assert.equal((await calling).toString(), 'answer');
  await left;
  await rig.clock.settle();
  assert.equal(rig.clock.pending, 0);
});

test('a destroyed channel fails its active call', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client();
  const calling = client.call(path, question, 1000);
  const { session } = await rig.nextCall();
  const left = once(session, 'close');
  const failing = assert.rejects(calling, /^GrpcError: 14 UNAVAILABLE: /);
  client.destroy();
  await failing;
  await left;
  await rig.clock.settle();
  assert.equal(rig.clock.pending, 0);
});

test('a connection to a server that accepts it and never answers fails after the connect timeout', async () => {
  let accepted = 0;
  await using rig = await Rig.withSockets(() => accepted++);
  const client = rig.client({ connectMs: 3000 });
  let isOver = false;
  const failing = assert
    .rejects(client.call(path, question, 60_000), /^GrpcError: 14 UNAVAILABLE: no connection in 3000 ms$/)
    .finally(() => {
      isOver = true;
    });
  await rig.clock.advance(2999);
  assert.equal(isOver, false);
  await rig.clock.advance(1);
  await failing;
  assert.equal(client.wasReady, false);
  assert.equal(rig.clock.pending, 0);
  // No connection is made within the backoff.
  await assert.rejects(client.call(path, question, 60_000), /no connection in 3000 ms/);
  assert.equal(accepted, 1);
});

/** An empty SETTINGS frame: the shortest that an HTTP/2 server sends. */
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

test('a connection whose probe is not answered within half of the interval is ended', async () => {
  await using rig = await Rig.withSockets((socket) => {
    socket.write(emptySettings);
    socket.resume();
  });
  const client = rig.client({ keepaliveMs: 1000 });
  let isOver = false;
  const failing = assert
    .rejects(
      client.call(path, question, 60_000),
      /^GrpcError: 14 UNAVAILABLE: the connection does not answer$/,
    )
    .finally(() => {
      isOver = true;
    });
  while (!client.wasReady) await rig.clock.settle();
  await rig.clock.advance(1499);
  assert.equal(isOver, false);
  await rig.clock.advance(1);
  await failing;
});

test('only a connection with calls is probed', async () => {
  await using rig = await Rig.withServer();
  const client = rig.client({ keepaliveMs: 1000 });
  const { session } = await callAndAnswer(rig, client);
  let pings = 0;
  const pinged = Promise.withResolvers<void>();
  session.on('ping', () => {
    pings++;
    pinged.resolve();
  });
  await rig.clock.advance(3000);
  const calling = client.call(path, question, 60_000);
  const { stream } = await rig.nextCall();
  assert.equal(pings, 0);
  await rig.clock.advance(1000);
  await pinged.promise;
  // The client has read the answer to its probe when it answers this ping.
  await new Promise((resolve) => session.ping(resolve));
  await rig.clock.advance(999);
  answerWith(stream, [frameOf('answer')]);
  assert.equal((await calling).toString(), 'answer', 'an answered probe leaves the connection open');
  assert.equal(pings, 1);
});
