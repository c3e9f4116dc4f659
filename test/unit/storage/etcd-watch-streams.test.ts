/** Streams of one watch: their requests, the opening of the next one, and the log lines about lost ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WatchRequest, WatchStream } from '../../../src/storage/etcd-rpc.ts';
import { watchEtcd } from '../../../src/storage/etcd-watch.ts';
import type { WatchBatch } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ModelEtcd, unanswered } from './model-etcd.ts';
import type { ModelWatch } from './model-watch.ts';

class World {
  readonly etcd = new ModelEtcd();
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly abort = new AbortController();
  readonly batches: WatchBatch[] = [];
  readonly sent: WatchRequest[] = [];
  readonly streams: ModelWatch[] = [];
  /** Number of times that each stream was canceled. */
  readonly canceled: number[] = [];
  /** While set, a stream opens only after this promise. */
  opening: Promise<void> | undefined;

  watch(after: number, prefix = '/r/'): Promise<void> {
    const { clock, log, batches } = this;
    const rpc = { ...this.etcd.rpc, openWatch: () => this.#open() };
    const signal = this.abort.signal;
    const onStream = () => {};
    return (async () => {
      for await (const batch of watchEtcd({ rpc, clock, log, prefix, after, signal, onStream }))
        batches.push(batch);
    })();
  }

  async #open(): Promise<WatchStream> {
    await this.opening;
    const stream = (await this.etcd.rpc.openWatch()) as ModelWatch;
    const at = this.streams.push(stream) - 1;
    this.canceled.push(0);
    return {
      responses: stream.responses,
      send: (request) => {
        this.sent.push(request);
        stream.send(request);
      },
      cancel: () => {
        this.canceled[at] = (this.canceled[at] ?? 0) + 1;
        stream.cancel();
      },
    };
  }

  revisions = () => this.batches.flatMap(({ events }) => events.map(({ revision }) => revision));
}

test('a watch requests the tree and the marker before it, in fragments and with progress notifications', async () => {
  const { etcd, clock, sent, abort, ...world } = bound();
  const ended = world.watch(0);
  await clock.settle();
  assert.deepEqual(sent, [
    {
      create_request: {
        key: Buffer.from('/r.progress'),
        range_end: Buffer.from('/r0'),
        start_revision: 1,
        progress_notify: true,
        fragment: true,
        watch_id: 1,
      },
    },
  ]);
  abort.abort();
  await ended;
});

test('a prefix that does not end in a slash cannot be watched', async () => {
  const { watch, clock } = bound();
  for (const prefix of ['/r', '/r/a']) {
    const refused = assert.rejects(watch(0, prefix), RangeError);
    await clock.settle();
    await refused;
  }
});

test('only a member behind the delivered revision is checked for lost data', async () => {
  const { etcd, watch, abort, clock, revisions } = bound();
  const last = etcd.put('/r/a', '1');
  let asked = 0;
  etcd.onCall = (name, timeoutMs) => {
    if (name !== 'range') return;
    asked++;
    assert.equal(timeoutMs, 5000);
  };
  const ended = watch(last);
  await clock.settle();
  assert.equal(asked, 0);
  etcd.revision = 1;
  etcd.cut();
  const refused = assert.rejects(ended, /etcd lost data/);
  await clock.advance(20);
  await refused;
  assert.deepEqual([asked, revisions()], [1, []]);
  abort.abort();
});

test('a watch that etcd cancels is opened again', async () => {
  const { etcd, watch, streams, abort, clock, revisions } = bound();
  const ended = watch(1);
  await clock.settle();
  streams[0]?.say({ canceled: true, cancel_reason: 'no leader' });
  await clock.advance(20);
  const written = etcd.put('/r/a', '1');
  await clock.settle();
  assert.deepEqual([revisions(), streams.length], [[written], 2]);
  abort.abort();
  await ended;
});

test('an ended stream is canceled once', async () => {
  const { watch, streams, canceled, abort, clock } = bound();
  const ended = watch(1);
  await clock.settle();
  streams[0]?.say({ canceled: true, cancel_reason: 'no leader' });
  await clock.advance(20);
  assert.deepEqual(canceled, [1, 0]);
  abort.abort();
  await ended;
  assert.equal(canceled[0], 1);
  assert.ok((canceled[1] ?? 0) >= 1);
});

test('a stream that opens after the abort is canceled without a request', async () => {
  const { world, watch, sent, canceled, abort, clock } = bound();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.opening = promise;
  const ended = watch(1);
  await clock.settle();
  abort.abort();
  resolve();
  await ended;
  assert.deepEqual([sent, canceled], [[], [1]]);
});

test('a short outage is not logged as a warning; a longer outage is logged once, and the next one again', async () => {
  const { etcd, watch, log, abort, clock } = bound();
  const told = () => log.lines.filter(({ level }) => level !== 'debug').map(({ level }) => level);
  const openedAt: number[] = [];
  let away = true;
  etcd.onCall = (name) => {
    if (name !== 'watch') return;
    openedAt.push(clock.now());
    if (away) throw unanswered();
  };
  const ended = watch(1);
  await clock.advance(2000);
  assert.deepEqual(told(), []);
  await clock.advance(20_000);
  assert.deepEqual(told(), ['warn']);
  assert.equal((openedAt.at(-1) ?? 0) - (openedAt.at(-2) ?? 0), 2000, 'the maximum interval');
  away = false;
  await clock.advance(2000);
  etcd.put('/r/a', '1');
  await clock.settle();
  away = true;
  etcd.cut();
  await clock.advance(2000);
  assert.deepEqual(told(), ['warn']);
  await clock.advance(20_000);
  assert.deepEqual(told(), ['warn', 'warn']);
  abort.abort();
  await ended;
});

test('neither a stream that ends without an error nor the end of the watch is logged', async () => {
  const { etcd, watch, streams, log, abort, clock } = bound();
  // The connection is lost at the same moment.
  abort.signal.addEventListener('abort', () => etcd.cut());
  const ended = watch(1);
  await clock.settle();
  streams[0]?.end();
  await clock.advance(20);
  assert.equal(streams.length, 2);
  assert.deepEqual(log.lines, []);
  abort.abort();
  await ended;
  assert.deepEqual(log.lines, []);
});

test('an error that is not from etcd ends the watch', async () => {
  const { etcd, watch, clock } = bound();
  const mistake = new TypeError('a mistake');
  etcd.onCall = () => {
    throw mistake;
  };
  const refused = assert.rejects(watch(1), mistake);
  await clock.settle();
  await refused;
});

function bound() {
  const world = new World();
  return { ...world, world, watch: world.watch.bind(world) };
}
