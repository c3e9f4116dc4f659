/** First revision of a cache whose store has compacted its history, for each kind of store. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstPage } from '../../../src/storage/cache-start.ts';
import {
  CompactedError,
  type ListOptions,
  type Store,
  StoreUnavailableError,
} from '../../../src/storage/store.ts';

/** Store at this revision, without an object or with one. */
function storeWith(
  list: (revision: number | undefined) => void,
  watch: Store['watch'],
  { revision = 30_000, object = false } = {},
) {
  const lists: (ListOptions | undefined)[] = [];
  const items = object ? [{ key: '/r/a', value: Buffer.from('{}'), revision: 2 }] : [];
  const store = {
    currentRevision: async () => revision,
    async list(_: string, options?: ListOptions) {
      lists.push(options);
      list(options?.revision);
      return { items, revision: options?.revision ?? revision, more: false, remaining: 0 };
    },
    watch,
  } as unknown as Store;
  return { store, lists };
}
const unused: Store['watch'] = () => assert.fail('nothing is watched');
const goneBefore = (oldest: number, told: boolean) => (revision: number | undefined) => {
  if ((revision ?? oldest) < oldest) throw new CompactedError('gone', told ? oldest : undefined);
};

describe('the first page of a cache', () => {
  it('is read at the revision 20,000 before the current one', async () => {
    const { store, lists } = storeWith(() => {}, unused);
    assert.equal((await firstPage(store, '/r/', 5)).revision, 10_000);
    assert.deepEqual(lists, [{ limit: 5, revision: 10_000 }]);
  });

  it('is read at the current revision if a new store has no objects', async () => {
    const { store } = storeWith(() => {}, unused, { revision: 3 });
    assert.equal((await firstPage(store, '/r/', 5)).revision, 3);
  });

  it('is read at the first revision if a new store has an object', async () => {
    const { store, lists } = storeWith(() => {}, unused, { revision: 3, object: true });
    assert.equal((await firstPage(store, '/r/', 5)).revision, 1);
    assert.deepEqual(lists.at(-1), { limit: 5, revision: 1 });
  });

  it('is read at the first revision if the objects of a store were all deleted', async () => {
    const { store, lists } = storeWith(() => {}, unused, { revision: 240 });
    assert.equal((await firstPage(store, '/r/', 5)).revision, 1);
    assert.deepEqual(lists, [{ limit: 5, revision: 1 }]);
  });

  it('is read at the oldest revision that the store reports', async () => {
    const { store, lists } = storeWith(goneBefore(25_000, true), unused);
    assert.equal((await firstPage(store, '/r/', 5)).revision, 25_000);
    assert.deepEqual(lists.at(-1), { limit: 5, revision: 25_000 });
  });

  it('is read at the oldest revision that a watch reports', async () => {
    const { store } = storeWith(goneBefore(25_000, false), async function* (_, after) {
      assert.equal(after, 10_000);
      yield* [];
      throw new CompactedError('gone', 25_000);
    });
    assert.equal((await firstPage(store, '/r/', 5)).revision, 25_000);
  });

  it('is read at the current revision if neither reports one, and the watch is closed', async () => {
    let open = true;
    const { store } = storeWith(goneBefore(25_000, false), async function* (_prefix, _after, signal) {
      signal.addEventListener('abort', () => {
        open = false;
      });
      for (;;) yield { events: [], revision: 30_000 };
    });
    assert.equal((await firstPage(store, '/r/', 5)).revision, 30_000);
    assert.equal(open, false);
  });

  it('is rejected if the store does not answer', async () => {
    const away = () => {
      throw new StoreUnavailableError('away');
    };
    await assert.rejects(firstPage(storeWith(away, unused).store, '/r/', 5), StoreUnavailableError);
    const { store } = storeWith(goneBefore(25_000, false), async function* () {
      yield* [];
      away();
    });
    await assert.rejects(firstPage(store, '/r/', 5), StoreUnavailableError);
  });
});
