import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Http2Session, Http2Stream } from 'node:http2';
import { test } from 'node:test';
import { Http2Liveness } from '../../../src/http/http2-liveness.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function start(idleMs: number) {
  const clock = new FakeClock();
  const session = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as Http2Session;
  const found = { idle: 0 };
  const onIdle = () => void found.idle++;
  const liveness = new Http2Liveness(session, { clock, idleMs, onIdle, onLost: () => assert.fail('lost') });
  const carry = () => {
    const stream = new EventEmitter() as unknown as Http2Stream;
    liveness.carries(stream);
    return () => void stream.emit('close');
  };
  return { clock, found, carry };
}

test('a connection without a stream yet is idle after ten seconds at the earliest', async () => {
  const { clock, found } = start(3);
  await clock.advance(9_999);
  assert.equal(found.idle, 0);
  await clock.advance(1);
  assert.equal(found.idle, 1);
});

test('a longer limit applies also to a connection without a stream', async () => {
  const { clock, found } = start(60_000);
  await clock.advance(59_999);
  assert.equal(found.idle, 0);
  await clock.advance(1);
  assert.equal(found.idle, 1);
});

test('a connection that was used is idle at its limit after its last stream', async () => {
  const { clock, found, carry } = start(3);
  const [first, second] = [carry(), carry()];
  first();
  await clock.advance(100);
  assert.equal(found.idle, 0);
  second();
  await clock.advance(2);
  assert.equal(found.idle, 0);
  await clock.advance(1);
  assert.equal(found.idle, 1);
});
