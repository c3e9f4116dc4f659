/**
 * Latest revision of etcd in all answers and watches, which come in any order. The store looks
 * for a write whose answer was lost only after that revision, since an older entry with the same bytes is not
 * this write.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import type { EtcdRpc } from '../../../src/storage/etcd-rpc.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd, unanswered } from './model-etcd.ts';

const bytes = (text: string) => Buffer.from(text);

function open(rpc: EtcdRpc, clock = new FakeClock()): Promise<Store> {
  const [random, log] = [new SeededRandom(1), silentLogger];
  return createEtcdStore({ rpc, clock, random, log, attemptMs: 1000, settleMs: 5000 });
}

/** Loses the next write, and asserts that it is made again, and not taken for one of the earlier writes. */
async function createsAnew(store: Store, etcd: ModelEtcd): Promise<void> {
  const { revision } = etcd;
  const usual = etcd.onTxn;
  etcd.onTxn = async () => {
    etcd.onTxn = usual;
    throw unanswered();
  };
  const created = await store.create('/r/a', bytes('same'));
  assert.ok(created > revision);
  assert.deepEqual(await store.get('/r/a'), { key: '/r/a', value: bytes('same'), revision: created });
}

test('a late answer does not lower the known revision', async () => {
  const etcd = new ModelEtcd();
  const gate = Promise.withResolvers<void>();
  const store = await open({
    ...etcd.rpc,
    async range(request, timeoutMs) {
      const answer = await etcd.rpc.range(request, timeoutMs);
      if (request.key.equals(bytes('/r/slow'))) await gate.promise;
      return answer;
    },
  });
  const slow = store.get('/r/slow');
  const made = await store.create('/r/a', bytes('same'));
  await store.delete('/r/a', made);
  gate.resolve();
  assert.equal(await slow, undefined);
  await createsAnew(store, etcd);
});

test('revisions that a watch delivers raise the known revision', async () => {
  const etcd = new ModelEtcd();
  const clock = new FakeClock();
  const store = await open(etcd.rpc, clock);
  const watch = store.watch('/r/', 1, new AbortController().signal)[Symbol.asyncIterator]();
  const seen = watch.next();
  await clock.settle();
  etcd.put('/r/a', 'same');
  await seen;
  const gone = watch.next();
  etcd.put('/r/a', undefined);
  await gone;
  await createsAnew(store, etcd);
  await store.close();
});

test('old revisions of a watch do not lower the known revision', async () => {
  const etcd = new ModelEtcd();
  const store = await open(etcd.rpc);
  etcd.put('/r/b', 'earlier');
  const made = await store.create('/r/a', bytes('same'));
  await store.delete('/r/a', made);
  const watch = store.watch('/r/', 1, new AbortController().signal)[Symbol.asyncIterator]();
  assert.equal((await watch.next()).value?.revision, 2);
  await createsAnew(store, etcd);
  await store.close();
});
