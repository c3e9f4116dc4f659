/** Usage of writes is charged to quotas once, with concurrent charges and a stale cache. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { ResourceQuota } from '../../../../src/api/core/v1/resource-quota.ts';
import { evaluatorOf } from '../../../../src/api/quota/evaluators.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { type ChargedWrite, QuotaCharges } from '../../../../src/kube-apiserver/admission/quota-charges.ts';
import { decodeObject, encodeObject } from '../../../../src/storage/codec.ts';
import type { Store } from '../../../../src/storage/store.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';
import { meta } from '../../controllers/objects.ts';

const write: ChargedWrite = {
  evaluator: evaluatorOf({ group: '', plural: 'configmaps' }) as ChargedWrite['evaluator'],
  ...{ group: '', plural: 'configmaps', old: undefined, now: 0, limited: [], dryRun: false },
  object: { metadata: {} } as unknown as KubeObject,
};
const keyOf = (name: string) => `/registry/resourcequotas/default/${name}`;
const quota = (name: string, used: number, most: number): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: meta(name),
  spec: { hard: { configmaps: String(most) } },
  status: { hard: { configmaps: String(most) }, used: { configmaps: String(used) } },
});

let store: Store;
/** Contents of the cache: only objects that `show` has put there. */
let cached: { key: string; object: KubeObject; revision: number }[];
let revision: number;
let updates: string[];
/** Returns the error with which a write is rejected. */
let refuse: (key: string) => Error | undefined;
let charges: QuotaCharges;
beforeEach(() => {
  store = createMemoryStore();
  [cached, revision, updates] = [[], 0, []];
  refuse = () => undefined;
  charges = new QuotaCharges({
    cache: {
      list: () => cached,
      get revision() {
        return revision;
      },
    } as never,
    store: {
      ...store,
      list: (prefix: string) => store.list(prefix),
      async update(key: string, value: Buffer, expected: number) {
        updates.push(key);
        const error = refuse(key);
        if (error) throw error;
        return store.update(key, value, expected);
      },
    } as unknown as Store,
  });
});
async function show(): Promise<void> {
  const { items } = await store.list('/registry/resourcequotas/default/');
  cached = items.map(({ key, value, revision }) => ({
    key,
    object: decodeObject(value, revision) as KubeObject,
    revision,
  }));
  revision = await store.currentRevision();
}
const make = async (...quotas: ResourceQuota[]) => {
  for (const one of quotas) await store.create(keyOf(one.metadata.name), encodeObject(one));
  await show();
};
/** Changes a quota as another master does. */
async function change(name: string, used: number, most = 9): Promise<void> {
  const found = await store.get(keyOf(name));
  await store.update(keyOf(name), encodeObject(quota(name, used, most)), found?.revision ?? 0);
}
const used = async (name: string) => {
  const found = await store.get(keyOf(name));
  assert.ok(found);
  return (decodeObject(found.value, found.revision) as ResourceQuota).status?.used?.configmaps;
};
const take = (over: Partial<ChargedWrite> = {}) => charges.take('default', { ...write, ...over });

describe('the charge of a write', () => {
  it('is charged to each quota, even if the cache does not show the previous charge yet', async () => {
    await make(quota('a', 0, 9), quota('b', 3, 9));
    for (let count = 0; count < 3; count++) assert.equal(await take(), undefined);
    assert.deepEqual([await used('a'), await used('b')], ['3', '6']);
    assert.equal(updates.length, 6, 'it does not compete with itself');
    await change('a', 1);
    await show();
    await take();
    assert.deepEqual(
      [await used('a'), updates.length],
      ['2', 8],
      'the newer status in the cache replaces the one that was written',
    );
  });

  it('is charged once to each quota, also if another master has changed a quota first', async () => {
    await make(quota('a', 0, 9), quota('b', 0, 9));
    await change('b', 5);
    assert.equal(await take(), undefined);
    assert.deepEqual([await used('a'), await used('b')], ['1', '6']);
  });

  it('is rejected only after the quotas were read from the store', async () => {
    await make(quota('a', 9, 9));
    await change('a', 8);
    assert.equal(await take(), undefined);
    assert.match((await take()) ?? '', /exceeded quota: a/);
    assert.equal(await used('a'), '9');
  });

  it('is charged by one update for many waiting writes, up to the limit', async () => {
    await make(quota('a', 0, 5));
    const answers = await Promise.all(Array.from({ length: 12 }, () => take()));
    assert.equal(answers.filter((refusal) => refusal === undefined).length, 5);
    assert.equal(await used('a'), '5');
    // The first charge is written by itself, the others together.
    assert.equal(updates.length, 2);
  });

  it('is not charged for a dry run', async () => {
    await make(quota('a', 0, 1));
    assert.equal(await take({ dryRun: true }), undefined);
    assert.deepEqual([await used('a'), updates], ['0', []]);
  });

  it('fails for all waiting writes when the store does not answer, and works for the next', async () => {
    await make(quota('a', 0, 9));
    refuse = () => new Error('no etcd');
    const answers = await Promise.allSettled([take(), take(), take()]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    refuse = () => undefined;
    assert.equal(await take(), undefined);
    assert.equal(await used('a'), '1');
  });

  it('fails with a conflict if other writers are always faster', async () => {
    await make(quota('a', 0, 9));
    const { update } = store;
    let turn = 0;
    store.update = async (key, value, expected) => {
      const found = await store.get(key);
      const other = encodeObject(quota('a', ++turn % 5, 9));
      await update.call(store, key, other, found?.revision ?? 0);
      return update.call(store, key, value, expected);
    };
    await assert.rejects(take(), /modified by too many writers/);
    assert.equal(updates.length, 64);
  });

  it('leaves a quota that was deleted in the meantime unchanged', async () => {
    await make(quota('a', 0, 9));
    const found = await store.get(keyOf('a'));
    await store.delete(keyOf('a'), found?.revision ?? 0);
    assert.equal(await take(), undefined);
    assert.equal(charges.hasQuotas('default'), true);
    await show();
    assert.equal(charges.hasQuotas('default'), false);
  });
});
