/** A master that starts on an etcd while another master continuously compacts it to the newest revision. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Store } from '../../src/storage/store.ts';
import { createWatchCache } from '../../src/storage/watch-cache.ts';
import { RecordingLogger } from '../fixtures/recording-logger.ts';
import { startTestEtcd } from './etcd-server.ts';

const limit = { timeout: 180_000 };
/** More than one call of etcd returns: the first page of a list has 100 items. */
const count = 150;

const key = (name: string) => `/registry/configmaps/default/${name}`;
const body = (name: string, data: string) =>
  Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { data } }));

/** Writes and compacts until the signal aborts. */
async function compactAgainAndAgain(store: Store, signal: AbortSignal): Promise<void> {
  let revision = await store.create(key('written'), body('written', ''));
  for (let round = 0; !signal.aborted; round++) {
    revision = await store.update(key('written'), body('written', `${round}`), revision);
    await store.compact(revision);
  }
}

test(
  'the cache of a master gets every object and the last write although etcd is compacted while it lists',
  limit,
  async () => {
    const { connect, stop } = await startTestEtcd();
    const stopped = new AbortController();
    const [store, another] = [await connect(), await connect()];
    try {
      const large = 'x'.repeat(400_000);
      for (let at = 0; at < count; at++) await another.create(key(`large-${at}`), body(`large-${at}`, large));
      const compacting = compactAgainAndAgain(another, stopped.signal);
      const log = new RecordingLogger();
      const { cache, run, synced } = createWatchCache({
        store,
        prefix: '/registry/',
        clock: systemClock,
        log,
      });
      const ended = new AbortController();
      const running = run(ended.signal);
      await synced;
      assert.equal(cache.list('/registry/configmaps/').length, count + 1);
      stopped.abort();
      await compacting;
      await cache.waitUntil(await store.currentRevision());
      assert.equal(cache.get(key('written'))?.revision, (await store.get(key('written')))?.revision);
      assert.ok(
        log.lines.some(({ message }) => message.includes('compacted history')),
        'no list was compacted',
      );
      ended.abort();
      await running;
    } finally {
      stopped.abort();
      await Promise.all([store.close(), another.close()]);
      await stop();
    }
  },
);
