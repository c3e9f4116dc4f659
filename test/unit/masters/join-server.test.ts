/** Requests at the path of the joins, and the answers to those with and without a token. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JoinBusyError, JoinRefusedError } from '../../../src/masters/grant.ts';
import type { JoinAnswer } from '../../../src/masters/join-messages.ts';
import { type JoinHttpRequest, joinServer } from '../../../src/masters/join-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const body = JSON.stringify({ name: 'm2', peerUrl: 'https://192.0.2.2:2380', settings: {} });

function request(authorization: string | undefined, more: Partial<JoinHttpRequest> = {}) {
  const headers = { authorization, 'content-length': String(body.length) } as Record<
    string,
    string | undefined
  >;
  const read = { count: 0 };
  const asked: JoinHttpRequest = {
    method: 'POST',
    url: 'https://192.0.2.1:6443/minik8s/masters',
    headers: { get: (name) => headers[name] ?? null },
    async text() {
      read.count++;
      return body;
    },
    ...more,
  };
  return { asked, read };
}

function world(
  grant: () => Promise<JoinAnswer> = async () => ({ outcome: 'is-member', initialCluster: 'a=b' }),
) {
  const time = { now: 0 };
  const log = new RecordingLogger();
  const tokenId = (authorization?: string) => (authorization === 'Bearer good' ? 'abcdef' : undefined);
  return { time, log, serve: joinServer({ tokenId, grant, now: () => time.now, log }) };
}

test('another path is not handled, and another method is rejected', async () => {
  const { serve } = world();
  assert.equal(await serve(request('Bearer good', { url: '/api/minik8s/masters' }).asked), undefined);
  assert.equal((await serve(request('Bearer good', { method: 'GET' }).asked))?.status, 405);
});

test('a request without a token for masters gets 401 before its body is read, and 429 when there are many', async () => {
  const { time, serve } = world();
  for (let number = 0; number < 10; number++) {
    const { asked, read } = request(number % 2 === 0 ? undefined : 'Bearer bad');
    assert.equal((await serve(asked))?.status, 401);
    assert.equal(read.count, 0);
  }
  assert.equal((await serve(request(undefined).asked))?.status, 429);
  assert.equal((await serve(request('Bearer good').asked))?.status, 200, 'the holder of a token is served');
  time.now += 61_000;
  assert.equal((await serve(request(undefined).asked))?.status, 401);
});

test('a body without a length, or a long one, is not read, and an invalid request is rejected', async () => {
  const { serve } = world();
  for (const length of [null, '65537', 'x']) {
    const { asked, read } = request(undefined);
    const headers = { get: (name: string) => (name === 'authorization' ? 'Bearer good' : length) };
    assert.equal((await serve({ ...asked, headers }))?.status, 413);
    assert.equal(read.count, 0);
  }
  const answer = await serve(request('Bearer good', { text: async () => '{}' }).asked);
  assert.deepEqual(answer, { status: 400, body: 'name: expected a host name in small letters\n' });
});

test('one master is added at a time', async () => {
  const added = Promise.withResolvers<JoinAnswer>();
  const { serve } = world(() => added.promise);
  const first = serve(request('Bearer good').asked);
  const second = await serve(request('Bearer good').asked);
  assert.equal(second?.status, 503);
  assert.match(second.body, /another master is joining/);
  added.resolve({ outcome: 'is-member', initialCluster: 'a=b' });
  assert.equal((await first)?.status, 200);
  assert.equal((await serve(request('Bearer good').asked))?.status, 200);
});

test('a request that may be granted in a moment gets 503, and no line in the log', async () => {
  const { log, serve } = world(() => Promise.reject(new JoinBusyError('m2 is joining')));
  assert.deepEqual(await serve(request('Bearer good').asked), { status: 503, body: 'm2 is joining\n' });
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 0);
});

test('a refusal is 409 with its reason, another failure 500 and a line in the log', async () => {
  const errors = [new JoinRefusedError('stop that one'), new Error('etcd is gone')];
  const { log, serve } = world(async () => {
    throw errors.shift();
  });
  assert.deepEqual(await serve(request('Bearer good').asked), { status: 409, body: 'stop that one\n' });
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 0);
  assert.deepEqual(await serve(request('Bearer good').asked), { status: 500, body: 'etcd is gone\n' });
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 1);
});
