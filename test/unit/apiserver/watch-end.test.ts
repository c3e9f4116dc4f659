/** End of a watch's body, the resources that it holds then, and the pieces that it is written in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Turns } from '../../../src/apiserver/turns.ts';
import { type WaitingWrite, WriteTurns } from '../../../src/apiserver/write-turns.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Cache } from '../../../src/storage/cache.ts';
import { CompactedError } from '../../../src/storage/store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { changed, type Fixture, framing, object, open } from './watch-body.ts';

const two = [object('a', 3), object('b', 4)];

/**
 * Asserts that the watch holds nothing: no timer, no subscription to the cache; nothing is written any more.
 */
async function assertOver({ client, clock, watches, hand }: Fixture, state: string): Promise<void> {
  const { written } = client;
  assert.deepEqual([client.state, watches, clock.pending], [state, false, 0]);
  hand(changed('late', 99));
  await clock.advance(600_000);
  assert.equal(client.written, written);
}

/** Line of writes that wait until the test calls them. */
function waitingTurns() {
  const line = new Set<WaitingWrite>();
  const writeTurns = Object.assign(new WriteTurns(systemClock), {
    mayWrite: () => false,
    wait: (write: WaitingWrite) => void line.add(write),
    leave: (write: WaitingWrite) => void line.delete(write),
  });
  return { line, writeTurns };
}

describe('a watch', () => {
  it('ends after its timeout', async () => {
    const watch = open([], { bookmarks: false, timeoutMs: 5000 });
    await watch.clock.advance(4999);
    assert.equal(watch.client.state, 'open');
    await watch.clock.advance(1);
    assert.deepEqual(watch.client.lines, []);
    await assertOver(watch, 'ended');
  });

  it('has a bookmark each minute, and one two seconds before its end', async () => {
    const { clock, client } = open([], { timeoutMs: 130_000 });
    const seen: number[] = [];
    for (let ms = 0; ms < 131_000; ms += 10) {
      const before = client.lines.length;
      await clock.advance(10);
      client.read();
      if (client.lines.length > before) seen.push(ms + 10);
    }
    assert.deepEqual(seen, [60_000, 120_000, 128_000]);
    assert.deepEqual(client.lines, Array(3).fill('BOOKMARK@10'));
    assert.equal(client.state, 'ended');
  });

  it('with a timeout of two seconds has no bookmark', async () => {
    const watch = open([], { timeoutMs: 2000 });
    await watch.clock.advance(1999);
    assert.equal(watch.client.state, 'open');
    await watch.clock.advance(1);
    assert.deepEqual(watch.client.lines, []);
    await assertOver(watch, 'ended');
  });

  it('ends when the server stops, after the queued frames have been written', async () => {
    const { line, writeTurns } = waitingTurns();
    const stopping = new AbortController();
    const watch = open([], { shutdown: stopping.signal, writeTurns });
    watch.hand(changed('a', 11));
    assert.deepEqual([watch.client.lines, line.size], [[], 1]);
    stopping.abort();
    assert.deepEqual([watch.client.lines, line.size], [['MODIFIED a@11'], 0]);
    await assertOver(watch, 'ended');
  });

  it('of a server that is stopping does not begin', async () => {
    await assertOver(open(two, { shutdown: AbortSignal.abort() }), 'ended');
  });

  it('ends with the server while its objects are sent, and sends no further ones', async () => {
    const stopping = new AbortController();
    const watch = open(two, { shutdown: stopping.signal, marksInitialEnd: true });
    watch.hand(changed('a', 11));
    stopping.abort();
    watch.client.makeRoom();
    await watch.clock.settle();
    assert.deepEqual(watch.client.lines, []);
    await assertOver(watch, 'ended');
  });

  it('holds no resources after its client has disconnected', async () => {
    const { line, writeTurns } = waitingTurns();
    const stopping = new AbortController();
    const watch = open([], { writeTurns, shutdown: stopping.signal });
    watch.client.backlog = 10;
    watch.hand(changed('a', 11));
    watch.cancel();
    assert.equal(line.size, 0);
    // The client receives nothing more.
    await assertOver(watch, 'open');
    stopping.abort();
    assert.equal(watch.client.state, 'open');
  });

  it('is refused if its history is compacted', async () => {
    const cache = {
      revision: 10,
      watch() {
        throw new CompactedError('gone', 7);
      },
    } as unknown as Cache;
    const watch = open([], { cache, after: 3 });
    assert.deepEqual(watch.client.lines, ['ERROR too old resource version: 3 (10)']);
    await assertOver(watch, 'ended');
    const broken = { ...cache, watch: () => assert.fail('broken') };
    assert.throws(() => open([], { cache: broken }), /broken/);
  });

  it('reports its end in an error event, after all known events', async () => {
    const { writeTurns } = waitingTurns();
    const watch = open([], { writeTurns });
    watch.hand(changed('a', 11));
    watch.reach(20);
    watch.expire();
    assert.deepEqual(watch.client.lines, ['MODIFIED a@11', 'ERROR too old resource version: 11 (20)']);
    await assertOver(watch, 'ended');
  });

  it('that ends while its objects are sent has the error before later events', async () => {
    const watch = open(two);
    watch.hand(changed('a', 11));
    watch.expire();
    assert.deepEqual(watch.client.lines, ['ERROR too old resource version: 11 (11)']);
    await assertOver(watch, 'ended');
  });

  it('with objects that cannot be encoded ends, and the log has the reason', async () => {
    const log = new RecordingLogger();
    const watch = open(two, {
      log,
      framing: { ...framing, frame: () => assert.fail('cannot be written') },
    });
    watch.client.makeRoom();
    await watch.clock.settle();
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.error]),
      [['error', 'cannot be written']],
    );
    await assertOver(watch, 'ended');
  });

  it('that is cut off is logged, with the unread bytes', async () => {
    const log = new RecordingLogger();
    const watch = open(two, { log });
    watch.client.backlog = 1000;
    watch.hand(changed('a', 11, 9 * 1024 * 1024));
    watch.hand(changed('a', 12));
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields]),
      [['warn', { prefix: '/registry/pods/', unreadBytes: 9 * 1024 * 1024 + 1000 }]],
    );
    await assertOver(watch, 'cut');
  });
});

describe('the unread data of a client', () => {
  const limit = 8 * 1024 * 1024;
  for (const [unread, state] of [
    [limit, 'open'],
    [limit + 1, 'cut'],
  ] as const)
    it(`may be ${unread} bytes: the client is ${state}`, () => {
      const { client, hand } = open([]);
      client.backlog = unread;
      hand(changed('a', 11));
      assert.equal(client.state, state);
    });

  it('may stay unread while no event occurs', () => {
    const { client, hand } = open([]);
    client.backlog = limit + 1;
    hand();
    assert.equal(client.state, 'open');
  });
});

describe('frames are sent', () => {
  const sizes = (...bytes: number[]) => {
    const { client, hand } = open([]);
    const events = bytes.map((size, index) => changed('a', 11 + index, size));
    hand(...events);
    const whole = events
      .filter(({ frame }) => client.pieces.includes(frame))
      .map(({ frame }) => frame.length);
    return { pieces: client.pieces.map(({ length }) => length), whole };
  };
  const most = 16 * 1024;

  it('together while they are small', () => {
    assert.deepEqual(sizes(100, 200, 300), { pieces: [600], whole: [] });
    assert.deepEqual(sizes(most - 100, 100), { pieces: [most], whole: [] });
    assert.deepEqual(sizes(most - 100, 101, 100), { pieces: [most - 100, 201], whole: [most - 100] });
  });

  it('unchanged if they are large, and are not copied', () => {
    assert.deepEqual(sizes(most + 1), { pieces: [most + 1], whole: [most + 1] });
    assert.deepEqual(sizes(100, most, 200, 300), { pieces: [100, most, 500], whole: [100, most] });
    assert.deepEqual(sizes(), { pieces: [], whole: [] });
  });

  it('in turns for many objects, and each waits until there is room', async () => {
    let taken = 0;
    const turns = { next: async () => void taken++ } as unknown as Turns;
    const many = Array.from({ length: 600 }, (_, index) => object(`o${index}`, index + 1));
    const { client, clock } = open(many, { turns });
    await clock.settle();
    assert.equal(taken, 0);
    client.makeRoom();
    await clock.settle();
    assert.deepEqual(
      client.lines,
      many.map(({ key, revision }) => `ADDED ${key}@${revision}`),
    );
    assert.equal(taken, 3);
    const large = [object('l', 1), object('m', 2), object('n', 3)].map((one) => ({
      ...one,
      bytes: Buffer.alloc(70_000),
    }));
    taken = 0;
    const other = open(large, { turns });
    other.client.makeRoom();
    await other.clock.settle();
    assert.equal(taken, 3, 'what has to be read for a frame counts too');
  });
});

it('in order: an event after a waiting event waits as well', () => {
  const { line, writeTurns } = waitingTurns();
  let mayWrite = false;
  const { client, hand } = open([], { writeTurns: Object.assign(writeTurns, { mayWrite: () => mayWrite }) });
  hand(changed('a', 11));
  mayWrite = true;
  hand(changed('b', 12));
  assert.deepEqual(client.lines, []);
  assert.equal(line.size, 1);
  for (const write of line) write();
  assert.deepEqual(client.lines, ['MODIFIED a@11', 'MODIFIED b@12']);
  hand(changed('c', 13));
  assert.equal(client.lines.at(-1), 'MODIFIED c@13');
});
