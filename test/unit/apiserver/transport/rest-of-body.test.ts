import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { discardRest, isUnread } from '../../../../src/apiserver/transport/rest-of-body.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const megabyte = 1024 * 1024;
/** Signal of a server that does not stop. */
const running = new AbortController().signal;

/** A POST of which the head has arrived. */
const incomingOf = (fields: object = {}) =>
  Object.assign(new EventEmitter(), {
    complete: false,
    destroyed: false,
    readableFlowing: null,
    method: 'POST',
    headers: {},
    ...fields,
  });

/** Returns a POST as Node has it, without a byte of its body. */
function realIncoming(): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  return Object.assign(incoming, { method: 'POST' });
}

describe('the rest of a body', () => {
  it('counts as unread if more will arrive and none of it was read', () => {
    assert.equal(isUnread(incomingOf()), true);
    for (const fields of [
      { complete: true },
      { destroyed: true },
      { readableFlowing: true },
      { readableFlowing: false },
      { method: 'GET' },
      { method: 'HEAD' },
    ])
      assert.equal(isUnread(incomingOf(fields)), false, JSON.stringify(fields));
  });

  it('is not unread while a reader waits for the first byte', () => {
    assert.equal(isUnread(realIncoming()), true);
    const readers: readonly ((incoming: IncomingMessage) => unknown)[] = [
      (incoming) => incoming.on('data', () => undefined),
      (incoming) => incoming.on('readable', () => undefined),
      (incoming) => Readable.toWeb(incoming),
    ];
    for (const read of readers) {
      const incoming = realIncoming();
      read(incoming);
      assert.equal(isUnread(incoming), false, String(read));
    }
  });

  it('allows the connection to be used again when it has arrived', async () => {
    const incoming = incomingOf({ headers: { 'content-length': String(32 * megabyte) } });
    const clock = new FakeClock();
    const rest = discardRest(incoming, clock, running);
    for (let number = 0; number < 32; number++) incoming.emit('data', Buffer.alloc(megabyte));
    incoming.emit('end');
    incoming.emit('close');
    assert.equal(await rest, 'discarded');
    assert.equal(clock.nextIn, undefined);
  });

  it('is left in the connection if its length is too large', async () => {
    const incoming = incomingOf({ headers: { 'content-length': String(32 * megabyte + 1) } });
    assert.equal(await discardRest(incoming, new FakeClock(), running), 'too large');
    assert.deepEqual(incoming.eventNames(), []);
  });

  it('is no longer read if more arrives than the limit', async () => {
    const incoming = incomingOf();
    const rest = discardRest(incoming, new FakeClock(), running);
    incoming.emit('data', Buffer.alloc(32 * megabyte));
    incoming.emit('data', Buffer.alloc(1));
    incoming.emit('end');
    assert.equal(await rest, 'too large');
  });

  it('ends the connection if it does not arrive within a minute', async () => {
    const [slow, timely] = [incomingOf(), incomingOf()];
    const clock = new FakeClock();
    const rests = [slow, timely].map((incoming) => discardRest(incoming, clock, running));
    await clock.advance(59_999);
    timely.emit('end');
    await clock.advance(1);
    slow.emit('end');
    assert.deepEqual(await Promise.all(rests), ['missing', 'discarded']);
  });

  for (const when of ['before', 'afterwards'])
    it(`may take one more second if the server stops, ${when}`, async () => {
      const [slow, timely] = [incomingOf(), incomingOf()];
      const [clock, stop] = [new FakeClock(), new AbortController()];
      if (when === 'before') stop.abort();
      const rests = [slow, timely].map((incoming) => discardRest(incoming, clock, stop.signal));
      stop.abort();
      await clock.advance(999);
      timely.emit('end');
      await clock.advance(1);
      slow.emit('end');
      assert.deepEqual(await Promise.all(rests), ['missing', 'discarded']);
      assert.equal(clock.nextIn, undefined);
    });

  it('ends the connection if it breaks off', async () => {
    const incoming = incomingOf();
    const rest = discardRest(incoming, new FakeClock(), running);
    incoming.emit('close');
    assert.equal(await rest, 'missing');
  });
});
