/** Writes whose answer is lost, in orders of events that a real etcd cannot be made to show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import type { TxnResponse } from '../../../src/storage/etcd-rpc.ts';
import { createEtcdStore } from '../../../src/storage/etcd-store.ts';
import {
  KeyExistsError,
  RevisionMismatchError,
  type Store,
  StoreUnavailableError,
} from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelEtcd, raisesFence, unanswered } from './model-etcd.ts';

const key = '/r/a';
const bytes = (text: string) => Buffer.from(text);

/** Time stands still: a promise that does not settle at once never settles. */
async function withStore(body: (store: Store, etcd: ModelEtcd) => Promise<void>): Promise<void> {
  const etcd = new ModelEtcd();
  const store = await createEtcdStore({
    rpc: etcd.rpc,
    clock: new FakeClock(),
    random: new SeededRandom(1),
    log: silentLogger,
    attemptMs: 1000,
    settleMs: 5000,
  });
  await body(store, etcd);
  await store.close();
}

type Apply = () => TxnResponse;

interface Around {
  /** True if the write itself is carried out. */
  readonly applied?: boolean;
  readonly before?: () => void;
  readonly after?: () => void;
}

const nothing = () => {};

/** Loses the answer to the next write. */
function loseNext(etcd: ModelEtcd, { applied = true, before = nothing, after = nothing }: Around = {}): void {
  const usual = etcd.onTxn;
  etcd.onTxn = async (_request, apply) => {
    etcd.onTxn = usual;
    before();
    if (applied) apply();
    after();
    throw unanswered();
  };
}

test('a creation is found after the deletion of the same key', () =>
  withStore(async (store, etcd) => {
    const first = await store.create(key, bytes('theirs'));
    let created = 0;
    loseNext(etcd, {
      before: () => void etcd.put(key, undefined),
      after: () => {
        created = etcd.revision;
      },
    });
    assert.equal(await store.create(key, bytes('ours')), created);
    assert.ok(created > first);
    assert.equal(etcd.value(key), 'ours');
  }));

test("an update is not found in another client's write after one that overtook it", () =>
  withStore(async (store, etcd) => {
    const first = await store.create(key, bytes('0'));
    const after = () => {
      etcd.put(key, 'theirs');
      etcd.put(key, 'ours');
    };
    loseNext(etcd, { applied: false, after });
    await assert.rejects(store.update(key, bytes('ours'), first), RevisionMismatchError);
  }));

test('an update is not found in a creation of the same bytes', () =>
  withStore(async (store, etcd) => {
    const first = await store.create(key, bytes('0'));
    etcd.put(key, undefined);
    // The store has seen the deletion, but the caller of the update has not.
    await store.currentRevision();
    loseNext(etcd, { applied: false, after: () => void etcd.put(key, 'ours') });
    await assert.rejects(store.update(key, bytes('ours'), first), RevisionMismatchError);
  }));

test('a creation is not found in an update to the same bytes', () =>
  withStore(async (store, etcd) => {
    const after = () => {
      etcd.put(key, 'theirs');
      etcd.put(key, 'ours');
    };
    loseNext(etcd, { applied: false, after });
    await assert.rejects(store.create(key, bytes('ours')), KeyExistsError);
  }));

test('the outcome of a write is unknown when the database was wiped meanwhile', () =>
  withStore(async (store, etcd) => {
    let revision = await store.create(key, bytes('0'));
    for (let i = 1; i <= 20; i++) revision = await store.update(key, bytes(String(i)), revision);
    let wiped = false;
    etcd.onTxn = async (request, apply) => {
      if (!wiped) {
        wiped = true;
        etcd.wipe();
        apply();
        throw unanswered();
      }
      if (!raisesFence(request)) return apply();
      const answer = apply();
      // The new database soon reaches the revision of the old one.
      for (let i = 0; i < 40; i++) etcd.put(key, String(i));
      return answer;
    };
    await assert.rejects(store.create('/r/b', bytes('1')), (error) => {
      assert.ok(error instanceof StoreUnavailableError, String(error));
      assert.match(error.message, /it is unknown whether the write was made/);
      return true;
    });
  }));

test('after a database was wiped, writes are settled by the revisions of the new one', () =>
  withStore(async (store, etcd) => {
    let revision = await store.create(key, bytes('0'));
    for (let i = 1; i <= 20; i++) revision = await store.update(key, bytes(String(i)), revision);
    etcd.wipe();
    assert.equal(await store.get(key), undefined);
    loseNext(etcd);
    const created = await store.create(key, bytes('new'));
    assert.ok(created < revision);
    assert.deepEqual(await store.get(key), { key, value: bytes('new'), revision: created });
  }));

test('a write is not settled by an earlier fence', () =>
  withStore(async (store, etcd) => {
    const fenceAnswer = Promise.withResolvers<void>();
    const late: Apply[] = [];
    let fences = 0;
    const losing = new Set(['/r/lost-1', '/r/lost-2']);
    etcd.onTxn = async (request, apply) => {
      if (raisesFence(request)) {
        const answer = apply();
        if (++fences === 1) await fenceAnswer.promise;
        return answer;
      }
      const written = request.success[0]?.request_put?.key.toString() ?? '';
      if (!losing.delete(written)) return apply();
      late.push(apply);
      throw unanswered();
    };
    const first = store.create('/r/lost-1', bytes('1'));
    // This write shows the store the revision of the fence before the fence's answer arrives.
    await store.create(key, bytes('2'));
    const second = store.create('/r/lost-2', bytes('3'));
    await new Promise(setImmediate);
    fenceAnswer.resolve();
    const revisions = await Promise.all([first, second]);
    for (const [i, name] of ['/r/lost-1', '/r/lost-2'].entries())
      assert.equal((await store.get(name))?.revision, revisions[i]);
    assert.equal(fences, 2);
    // The lost requests arrive at last.
    for (const apply of late) assert.equal(apply().succeeded, false);
  }));
