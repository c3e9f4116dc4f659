import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Channel, describe } from '../../../src/grpc/channel.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

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

test('a failure of several addresses is described by all of them, unless it has a message', () => {
  const errors = [new Error('no route to ::1'), new Error('no route to 127.0.0.1')];
  assert.equal(describe(new AggregateError(errors)), 'no route to ::1, no route to 127.0.0.1');
  assert.equal(describe(new AggregateError(errors, 'all failed')), 'all failed');
});
