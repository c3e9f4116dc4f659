import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { discardRest, isUnread } from '../../../../src/apiserver/transport/rest-of-body.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const megabyte = 1024 * 1024;

/** A POST of which the head has arrived. */
const incomingOf = (fields: object = {}) =>
  Object.assign(new EventEmitter(), {
    complete: false,
    destroyed: false,
    readableDidRead: false,
    method: 'POST',
    headers: {},
    ...fields,
  });

describe('the rest of a body', () => {
  it('is unread if more will arrive and nothing was read of it', () => {
    assert.equal(isUnread(incomingOf()), true);
    for (const fields of [
      { complete: true },
      { destroyed: true },
      { readableDidRead: true },
      { method: 'GET' },
      { method: 'HEAD' },
    ])
      assert.equal(isUnread(incomingOf(fields)), false, JSON.stringify(fields));
  });

  it('lets the connection be used again when it has arrived', async () => {
    const incoming = incomingOf({ headers: { 'content-length': String(32 * megabyte) } });
    const clock = new FakeClock();
    const rest = discardRest(incoming, clock);
    for (let number = 0; number < 32; number++) incoming.emit('data', Buffer.alloc(megabyte));
    incoming.emit('end');
    incoming.emit('close');
    assert.equal(await rest, true);
    assert.equal(clock.nextIn, undefined);
  });

  it('ends the connection if its length is too large', async () => {
    const incoming = incomingOf({ headers: { 'content-length': String(32 * megabyte + 1) } });
    assert.equal(await discardRest(incoming, new FakeClock()), false);
    assert.deepEqual(incoming.eventNames(), []);
  });

  it('ends the connection if more arrives than the limit', async () => {
    const incoming = incomingOf();
    const rest = discardRest(incoming, new FakeClock());
    incoming.emit('data', Buffer.alloc(32 * megabyte));
    incoming.emit('data', Buffer.alloc(1));
    incoming.emit('end');
    assert.equal(await rest, false);
  });

  it('ends the connection if it does not arrive within a minute', async () => {
    const [slow, timely] = [incomingOf(), incomingOf()];
    const clock = new FakeClock();
    const rests = [slow, timely].map((incoming) => discardRest(incoming, clock));
    await clock.advance(59_999);
    timely.emit('end');
    await clock.advance(1);
    slow.emit('end');
    assert.deepEqual(await Promise.all(rests), [false, true]);
  });

  it('ends the connection if it breaks off', async () => {
    const incoming = incomingOf();
    const rest = discardRest(incoming, new FakeClock());
    incoming.emit('close');
    assert.equal(await rest, false);
  });
});
