import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { runCompactor } from '../../../src/storage/compactor.ts';
import { CompactedError } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';

test('history is compacted once it has the configured age, at most a fifth of that age later', async () => {
  const clock = new FakeClock();
  const store = createMemoryStore();
  const abort = new AbortController();
  const first = await store.create('/r/a', Buffer.from('1'));
  const second = await store.update('/r/a', Buffer.from('2'), first);
  const run = runCompactor({ store, clock, log: silentLogger, retentionMs: 1000 }, abort.signal);
  await clock.advance(199);
  await store.update('/r/a', Buffer.from('3'), second);
  await clock.advance(800);
  assert.equal((await store.list('/r/', { revision: first })).items.length, 1);
  await clock.advance(1);
  await assert.rejects(store.list('/r/', { revision: first }), CompactedError);
  assert.equal((await store.list('/r/', { revision: second })).items.length, 1);
  await clock.advance(199);
  assert.equal((await store.list('/r/', { revision: second })).items.length, 1);
  await clock.advance(1);
  await assert.rejects(store.list('/r/', { revision: second }), CompactedError);
  abort.abort();
  await run;
  assert.equal(clock.pending, 0);
});

test('a store that does not answer is queried again later, and logged once', async () => {
  const clock = new FakeClock();
  const store = createMemoryStore();
  const abort = new AbortController();
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (message: string) => void warnings.push(message), named: () => log };
  let [asked, away] = [0, true];
  const shaky = {
    ...store,
    currentRevision: () => {
      asked++;
      return away ? Promise.reject(new Error('it is away')) : store.currentRevision();
    },
  };
  const run = runCompactor({ store: shaky, clock, log, retentionMs: 1000 }, abort.signal);
  await clock.advance(400);
  assert.deepEqual([asked, warnings.length], [3, 1]);
  away = false;
  await clock.advance(200);
  away = true;
  await clock.advance(400);
  assert.deepEqual([asked, warnings.length], [6, 2]);
  abort.abort();
  await run;
});

test('by default, history older than five minutes is compacted, and nothing is compacted at the start', async () => {
  const clock = new FakeClock();
  const memory = createMemoryStore();
  const compacted: unknown[] = [];
  const store = { ...memory, compact: async (revision: number) => void compacted.push(revision) };
  const abort = new AbortController();
  const first = await memory.create('/r/a', Buffer.from('1'));
  const run = runCompactor({ store, clock, log: silentLogger }, abort.signal);
  await clock.settle();
  await memory.create('/r/b', Buffer.from('1'));
  await clock.advance(5 * 60_000 - 1);
  assert.deepEqual(compacted, []);
  await clock.advance(1);
  assert.deepEqual(compacted, [first]);
  abort.abort();
  await run;
});

test('a store without new revisions is not compacted again', async () => {
  const clock = new FakeClock();
  const memory = createMemoryStore();
  const compacted: number[] = [];
  const store = { ...memory, compact: async (revision: number) => void compacted.push(revision) };
  const abort = new AbortController();
  const first = await memory.create('/r/a', Buffer.from('1'));
  const run = runCompactor({ store, clock, log: silentLogger, retentionMs: 1000 }, abort.signal);
  await clock.advance(3000);
  assert.deepEqual(compacted, [first]);
  abort.abort();
  await run;
});
