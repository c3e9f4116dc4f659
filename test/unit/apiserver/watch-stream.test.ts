/**
 * Order of the events in the body of a watch, and when its client counts as too slow. For the end of a watch
 * see watch-end.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type WaitingWrite, WriteTurns } from '../../../src/apiserver/write-turns.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { changed, object, open } from './watch-body.ts';

const megabyte = 1024 * 1024;
const two = [object('a', 3), object('b', 4)];

describe('the body of a watch', () => {
  for (const marksInitialEnd of [false, true]) {
    const end = marksInitialEnd ? ['BOOKMARK@10 k8s.io/initial-events-end,true'] : [];
    it(`contains events during the sending of objects after them${marksInitialEnd ? ' and their end' : ''}`, async () => {
      const { clock, client, hand } = open(two, { marksInitialEnd });
      hand(changed('a', 11));
      await clock.settle();
      assert.deepEqual(client.lines, []);
      client.makeRoom();
      await clock.settle();
      assert.deepEqual(client.lines, ['ADDED a@3', 'ADDED b@4', ...end, 'MODIFIED a@11']);
      hand(changed('b', 12));
      assert.equal(client.lines.at(-1), 'MODIFIED b@12');
    });
  }

  it('has no bookmark before the objects have all been sent', async () => {
    const { clock, client } = open(two);
    await clock.advance(60_100);
    assert.deepEqual(client.lines, []);
    client.makeRoom();
    await clock.settle();
    client.read();
    await clock.advance(60_100);
    assert.deepEqual(client.lines, ['ADDED a@3', 'ADDED b@4', 'BOOKMARK@10']);
  });

  it('has no bookmark ahead of an event that the cache has not handed out', async () => {
    const { clock, client, hand, reach } = open([]);
    await clock.advance(60_010);
    // The event is applied just before the bookmark is written, and delivered after it.
    reach(11);
    await clock.advance(50);
    hand(changed('a', 11));
    assert.deepEqual(client.lines, ['BOOKMARK@10', 'MODIFIED a@11']);
    client.read();
    await clock.advance(60_100);
    assert.deepEqual(client.lines.slice(2), ['BOOKMARK@11']);
  });

  it('has no bookmark ahead of an event that waits for its turn', async () => {
    const queue: WaitingWrite[] = [];
    const writeTurns = Object.assign(new WriteTurns(systemClock), {
      mayWrite: () => false,
      wait: (write: WaitingWrite) => void queue.push(write),
    });
    const { clock, client, hand } = open([], { writeTurns });
    hand(changed('a', 11));
    await clock.advance(60_100);
    assert.deepEqual(client.lines, []);
    for (const write of queue.splice(0)) write();
    assert.deepEqual(client.lines, ['MODIFIED a@11', 'BOOKMARK@11']);
  });
});

describe('a client that reads slowly', () => {
  it('is cut off for events that are queued during the initial objects', () => {
    const { client, hand } = open(two);
    for (let i = 0; i < 9; i++) hand(changed('a', 11 + i, megabyte));
    assert.equal(client.state, 'open');
    hand(changed('a', 30));
    assert.equal(client.state, 'cut');
  });

  it('is cut off by its unread and queued bytes together', () => {
    const { client, hand } = open(two);
    client.backlog = 5 * megabyte;
    for (let i = 0; i < 4; i++) hand(changed('a', 11 + i, megabyte));
    assert.equal(client.state, 'open');
    hand(changed('a', 30));
    assert.equal(client.state, 'cut');
  });

  it('is not cut off for bytes that it has read in the meantime', async () => {
    const { clock, client, hand } = open(two);
    for (let i = 0; i < 8; i++) hand(changed('a', 11 + i, megabyte));
    client.makeRoom();
    await clock.settle();
    assert.ok(client.written > 8 * megabyte);
    client.read();
    for (let i = 0; i < 8; i++) hand(changed('a', 31 + i, megabyte));
    assert.equal(client.state, 'open');
  });

  it('is kept as long as it reads a quarter of the queued bytes in time, even if more bytes are added', async () => {
    const { clock, client, hand } = open([], { bookmarks: false });
    hand(changed('a', 11, 1000));
    for (let i = 0; i < 5; i++) {
      const before = client.backlog;
      await clock.advance(10_000);
      client.read(before / 4);
      hand(changed('a', 12 + i, before));
      await clock.advance(20_000);
      assert.equal(client.state, 'open', `after ${i + 1} times 30 s`);
    }
    // Bytes that the client has read before do not count now.
    client.read(100);
    await clock.advance(30_000);
    assert.equal(client.state, 'cut');
  });

  it('is cut off when it reads nothing of a second piece', async () => {
    const { clock, client, hand } = open([], { bookmarks: false });
    hand(changed('a', 11, 1000));
    client.read();
    await clock.advance(31_000);
    hand(changed('a', 12, 1000));
    await clock.advance(29_000);
    assert.equal(client.state, 'open');
    await clock.advance(1000);
    assert.equal(client.state, 'cut');
  });

  it('holds no timer when a bookmark finds its client too slow', async () => {
    const { clock, client, hand } = open([], { timeoutMs: 3_600_000 });
    await clock.advance(45_000);
    hand(changed('a', 11, 40 * megabyte));
    await clock.advance(14_000);
    client.read(30 * megabyte);
    await clock.advance(2_000);
    assert.equal(client.state, 'cut');
    assert.equal(clock.pending, 0);
  });
});
