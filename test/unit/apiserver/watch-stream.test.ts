/** In which order the body of a watch tells things, and when its client counts as too slow. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod.ts';
import { type ListQuery, parseListQuery } from '../../../src/apimachinery/list-options.ts';
import type { Sink } from '../../../src/apiserver/pushed-body.ts';
import { selectionOf } from '../../../src/apiserver/selection.ts';
import { Turns } from '../../../src/apiserver/turns.ts';
import type { Framing } from '../../../src/apiserver/verbs/framing.ts';
import { type WatchPlan, watchSource } from '../../../src/apiserver/verbs/watch-stream.ts';
import { type WaitingWrite, WriteTurns } from '../../../src/apiserver/write-turns.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Cache, CachedObject, CacheEvent, CacheWatch } from '../../../src/storage/cache.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const line = (text: string, bytes = 0) => Buffer.from(`${text.padEnd(bytes - 1)}\n`);

/** Frames that can be read: what happened, to what, and when. */
const framing: Framing = {
  contentType: 'text/plain',
  frame: (type, { key }, revision) => line(`${type} ${key}@${revision}`),
  unchanged: ({ frame }) => frame,
  bookmark: (revision, annotations) => line(`BOOKMARK@${revision}${annotations ? ' end of initial' : ''}`),
  error: ({ message }) => line(`ERROR ${message}`),
};

const object = (key: string, revision: number): CachedObject => ({
  key,
  revision,
  bytes: Buffer.alloc(10),
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: key } } as CachedObject['object'],
});

function changed(key: string, revision: number, bytes?: number): CacheEvent {
  const frame = line(`MODIFIED ${key}@${revision}`, bytes);
  return { type: 'MODIFIED', key, revision, current: object(key, revision), previous: object(key, 1), frame };
}

/** A client that reads when the test says so. */
class Client implements Sink {
  #text = '';
  #room = Promise.withResolvers<void>();
  written = 0;
  backlog = 0;
  state = 'open';

  write(piece: Uint8Array): void {
    this.#text += Buffer.from(piece).toString();
    this.written += piece.length;
    this.backlog += piece.length;
  }
  end(): void {
    this.state = 'ended';
  }
  cut(): void {
    this.state = 'cut';
  }
  room(): Promise<void> {
    return this.#room.promise;
  }
  /** From now on there is room for more. */
  makeRoom(): void {
    this.#room.resolve();
  }
  read(bytes = this.backlog): void {
    this.backlog -= bytes;
  }
  get lines(): string[] {
    return this.#text
      .split('\n')
      .slice(0, -1)
      .map((each) => each.trimEnd());
  }
}

interface Fixture {
  readonly clock: FakeClock;
  readonly client: Client;
  /** The cache has applied everything up to there; what it has not handed out comes by `hand`. */
  reach(revision: number): void;
  hand(...events: CacheEvent[]): void;
}

const noQuery: ListQuery = parseListQuery(new URLSearchParams());

function open(initial: readonly CachedObject[], over: Partial<WatchPlan> = {}): Fixture {
  const clock = new FakeClock();
  const client = new Client();
  const state = { revision: 10, watch: undefined as CacheWatch | undefined };
  const cache = {
    get revision() {
      return state.revision;
    },
    watch(_prefix: string, _after: number, watch: CacheWatch) {
      state.watch = watch;
      return () => {
        state.watch = undefined;
      };
    },
  } as unknown as Cache;
  const plan: WatchPlan = {
    cache,
    clock,
    log: silentLogger,
    turns: new Turns(),
    writeTurns: new WriteTurns(),
    selection: selectionOf(podResource, '', noQuery),
    framing,
    after: 10,
    marksInitialEnd: false,
    bookmarks: true,
    timeoutMs: 600_000,
    shutdown: undefined,
    ...over,
  };
  watchSource(plan, initial).begin(client);
  return {
    clock,
    client,
    reach(revision) {
      state.revision = revision;
    },
    hand(...events) {
      state.revision = Math.max(state.revision, events.at(-1)?.revision ?? 0);
      state.watch?.onEvents(events, state.revision);
    },
  };
}

const megabyte = 1024 * 1024;
const two = [object('a', 3), object('b', 4)];

describe('the body of a watch', () => {
  for (const marksInitialEnd of [false, true]) {
    const end = marksInitialEnd ? ['BOOKMARK@10 end of initial'] : [];
    it(`tells what happens while objects are sent after them${marksInitialEnd ? ' and their end' : ''}`, async () => {
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
    // Applied a moment before the bookmark is written, and handed out after it.
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
    const writeTurns = Object.assign(new WriteTurns(), {
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
  it('is cut off by what waits for the end of the objects', () => {
    const { client, hand } = open(two);
    for (let i = 0; i < 9; i++) hand(changed('a', 11 + i, megabyte));
    assert.equal(client.state, 'open');
    hand(changed('a', 30));
    assert.equal(client.state, 'cut');
  });

  it('is cut off by what it has not read and what waits together', () => {
    const { client, hand } = open(two);
    client.backlog = 5 * megabyte;
    for (let i = 0; i < 4; i++) hand(changed('a', 11 + i, megabyte));
    assert.equal(client.state, 'open');
    hand(changed('a', 30));
    assert.equal(client.state, 'cut');
  });

  it('is not cut off for what waited once and has been read', async () => {
    const { clock, client, hand } = open(two);
    for (let i = 0; i < 8; i++) hand(changed('a', 11 + i, megabyte));
    client.makeRoom();
    await clock.settle();
    assert.ok(client.written > 8 * megabyte);
    client.read();
    for (let i = 0; i < 8; i++) hand(changed('a', 31 + i, megabyte));
    assert.equal(client.state, 'open');
  });

  it('is kept while it reads a quarter of what waits, however much comes meanwhile', async () => {
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
    // What it has read before does not count for it now.
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
