/** Revision of the store that is known without a request to etcd. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd, unanswered } from './model-etcd.ts';

const bytes = (text: string) => Buffer.from(text);

/** A store with a watch, and counters of its calls. */
async function watching(isOnlyWriter: (() => boolean) | undefined) {
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  etcd.put('/r/before', '1');
  const store = await createEtcdStore({
    ...{ rpc: etcd.rpc, clock, random: new SeededRandom(1), log: silentLogger },
    ...{ attemptMs: 1000, settleMs: 5000, isOnlyWriter },
  });
  const before = store.knownRevision?.();
  const stop = new AbortController();
  const watch = Array.fromAsync(store.watch('/r/', 1, stop.signal));
  await clock.settle();
  const end = async () => {
    stop.abort();
    await watch;
  };
  return { etcd, clock, store, before, end };
}

test('no revision is known if other processes write, too', async () => {
  const { store, before, end } = await watching(undefined);
  assert.deepEqual([before, store.knownRevision?.()], [undefined, undefined]);
  await end();
});

test('the only writer has the latest revision without a request', async () => {
  const { etcd, store, end } = await watching(() => true);
  assert.equal(store.knownRevision?.(), etcd.revision);
  const asked: string[] = [];
  etcd.onCall = (name) => void asked.push(name);
  const made = await store.create('/r/a', bytes('1'));
  assert.equal(store.knownRevision?.(), made);
  const changed = await store.update('/r/a', bytes('2'), made);
  assert.equal(store.knownRevision?.(), changed);
  assert.equal(await store.delete('/r/a', changed), store.knownRevision?.());
  assert.deepEqual(asked, []);
  await end();
});

test('no revision is known once other processes may write', async () => {
  let alone = true;
  const { etcd, store, end } = await watching(() => alone);
  assert.equal(store.knownRevision?.(), etcd.revision);
  alone = false;
  assert.equal(store.knownRevision?.(), undefined);
  await end();
});

test('no revision is known before the watch exists, while it is lost, and after it has ended', async () => {
  const { etcd, clock, store, before, end } = await watching(() => true);
  assert.equal(before, undefined);
  etcd.onCall = () => {
    throw unanswered();
  };
  etcd.cut();
  await clock.settle();
  assert.equal(store.knownRevision?.(), undefined);
  etcd.onCall = () => undefined;
  await clock.advance(5000);
  await clock.settle();
  assert.equal(store.knownRevision?.(), etcd.revision);
  await end();
  assert.equal(store.knownRevision?.(), undefined);
});

test('the revision of a write whose answer was lost is known once it was read back', async () => {
  const { etcd, clock, store, end } = await watching(() => true);
  let lost = 1;
  etcd.onTxn = async (_, apply) => {
    const answer = apply();
    if (lost-- > 0) throw unanswered();
    return answer;
  };
  const writing = store.create('/r/a', bytes('1'));
  await clock.advance(1000);
  const made = await writing;
  const known = store.knownRevision?.();
  assert.ok(known !== undefined && known >= made, `${known}, ${made}`);
  await end();
});

test('the known revision of a wiped database does not exceed its own', async () => {
  const { etcd, store, end } = await watching(() => true);
  for (let number = 0; number < 5; number++) await store.create(`/r/${number}`, bytes('1'));
  etcd.wipe();
  assert.equal(await store.get('/r/0'), undefined);
  assert.equal(store.knownRevision?.(), 1);
  await end().catch(() => undefined);
});
