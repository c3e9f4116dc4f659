/** Lists of objects that together are too large for one answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { RpcError } from '../../../src/storage/etcd-rpc.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import { type Store, StoreRejectedError, StoreUnavailableError } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd } from './model-etcd.ts';

const answerBytes = 64 << 20;

const storeOf = (etcd: ModelEtcd, clock = new FakeClock()) =>
  createEtcdStore({
    rpc: etcd.rpc,
    clock,
    random: new SeededRandom(1),
    log: silentLogger,
    attemptMs: 1000,
    settleMs: 5000,
  });

/** Lists objects of these sizes; returns the limit of each call of the store. */
async function listed(
  sizes: readonly number[],
  list = (store: Store) => store.list('/r/'),
  etcd = new ModelEtcd(),
) {
  etcd.answerBytes = answerBytes;
  const store = await storeOf(etcd);
  for (const [at, size] of sizes.entries()) etcd.put(`/r/${String(at).padStart(5, '0')}`, 'x'.repeat(size));
  const limits: (number | undefined)[] = [];
  const { range } = etcd.rpc;
  Object.assign(etcd.rpc, {
    range: (request: Parameters<typeof range>[0], timeoutMs: number) => {
      limits.push(request.limit);
      return range(request, timeoutMs);
    },
  });
  const { items, more, remaining } = await list(store);
  const keys = items.map(({ key }) => Number(key.slice('/r/'.length)));
  return { keys, sizes: items.map(({ value }) => value.length), more, remaining, limits };
}

const many = (count: number, size: number): number[] => Array(count).fill(size);

describe('a list', () => {
  it('that exceeds one answer is fetched completely in smaller pages', async () => {
    const sizes = many(70, 1 << 20);
    const { limits, ...found } = await listed(sizes);
    assert.deepEqual(found, { keys: [...sizes.keys()], sizes, more: false, remaining: 0 });
    // The first limit exceeds the 70 objects; those after the second are the number of objects in 16 MiB.
    assert.deepEqual(limits, [100, 25, 16, 16, 16]);
  });

  it('increases its pages again after large objects', async () => {
    // A little more than three objects of the second size fit into 16 MiB.
    const sizes = [1 << 26, 5_592_405, ...many(6000, 1)];
    const { limits, ...found } = await listed(sizes);
    assert.deepEqual(found.sizes, sizes);
    assert.deepEqual(limits, [100, 25, 7, 2, 1, 1, 4, 16, 64, 256, 1024, 2500, 2500]);
  });

  it('of empty objects is fetched in large pages', async () => {
    const { limits, keys } = await listed(many(5001, 0));
    assert.deepEqual([limits, keys.length], [[100, 400, 1600, 2500, 2500], 5001]);
  });

  it('fetches two objects that are too large for one answer one after the other', async () => {
    const { limits, sizes } = await listed(many(2, 33 << 20), (store) => store.list('/r/', { limit: 2 }));
    assert.deepEqual(sizes, many(2, 33 << 20));
    assert.deepEqual(limits, [2, 1, 1]);
  });

  it('that takes etcd longer than a call may is fetched in smaller pages', async () => {
    const sizes = [...many(3000, 1), ...many(40, 1 << 20)];
    const etcd = new ModelEtcd();
    let unanswered = 0;
    const { range } = etcd.rpc;
    Object.assign(etcd.rpc, {
      range: async (request: Parameters<typeof range>[0], timeoutMs: number) => {
        const answer = await range(request, timeoutMs);
        const bytes = answer.kvs.reduce((sum, { value }) => sum + value.length, 0);
        if (bytes <= 8 << 20) return answer;
        unanswered++;
        throw new RpcError('unanswered', 'no answer in 1000 ms');
      },
    });
    const { limits, ...found } = await listed(sizes, undefined, etcd);
    assert.deepEqual(found, { keys: [...sizes.keys()], sizes, more: false, remaining: 0 });
    // No page of large objects is too long once the calls without an answer have reduced their target.
    assert.deepEqual(limits.slice(0, 6), [100, 400, 1600, 2500, 625, 2500]);
    assert.ok(unanswered < 12, `${unanswered} calls without an answer`);
  });

  it('is repeated in small pages until the timeout while etcd does not answer', async () => {
    const etcd = new ModelEtcd();
    const clock = new FakeClock();
    const store = await storeOf(etcd, clock);
    const limits: (number | undefined)[] = [];
    Object.assign(etcd.rpc, {
      range: async ({ limit }: { limit?: number }) => {
        limits.push(limit);
        throw new RpcError('unanswered', 'no connection');
      },
    });
    await assert.rejects(clock.until(store.list('/r/')), StoreUnavailableError);
    assert.deepEqual(limits.slice(0, 5), [100, 25, 7, 7, 7]);
    assert.ok(limits.length > 50);
  });

  it('ends at its limit for any size of pages', async () => {
    const { limits, ...found } = await listed(many(70, 1 << 20), (store) =>
      store.list('/r/', { limit: 67, startAfter: '/r/00001' }),
    );
    assert.deepEqual(
      found.keys,
      Array.from({ length: 67 }, (_, at) => at + 2),
    );
    assert.deepEqual([found.more, found.remaining], [true, 1]);
    assert.deepEqual(limits, [67, 17, 16, 16, 16, 2]);
  });

  it('fails when a single object exceeds an answer', async () => {
    const refused = listed([1, answerBytes + 1]);
    await assert.rejects(refused, (error: Error) => {
      assert.ok(error instanceof StoreRejectedError);
      assert.equal(error.message, 'listing /r/: Received message larger than max');
      return true;
    });
  });

  it('is not repeated when etcd rejects it for another reason', async () => {
    const etcd = new ModelEtcd();
    const store = await storeOf(etcd);
    let calls = 0;
    etcd.onCall = () => {
      calls++;
      throw new RpcError('refused', 'etcdserver: permission denied');
    };
    await assert.rejects(store.list('/r/'), StoreRejectedError);
    assert.equal(calls, 1);
  });
});
