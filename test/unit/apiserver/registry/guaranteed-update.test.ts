/**
 * A write is based on the stored object, even if the watch cache is stale or another client writes meanwhile.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { isConflict, isNotFound } from '../../../../src/apimachinery/status-error.ts';
import {
  type Attempt,
  type Decision,
  guaranteedUpdate,
} from '../../../../src/apiserver/registry/guaranteed-update.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { decodeObject, encodeObject } from '../../../../src/storage/codec.ts';
import { type Claims, ClaimTakenError, type Store } from '../../../../src/storage/store.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const definition = configMapResource as unknown as ResourceDefinition;
const key = '/registry/configmaps/default/x';
type ConfigMap = KubeObject & { data: { n: number } };

const map = (n: number) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', namespace: 'default', uid: 'u' },
    data: { n },
  }) as unknown as ConfigMap;

let store: Store;
/** Entry of the one key in the cache; undefined by default. */
let cached: { readonly bytes: Buffer; readonly revision: number } | undefined;
let reads: number;
beforeEach(() => {
  store = createMemoryStore();
  cached = undefined;
  reads = 0;
});

/** Stores the object, and updates the cache. */
async function seen(n: number): Promise<number> {
  const bytes = encodeObject(map(n));
  const before = await store.get(key);
  const revision = before ? await store.update(key, bytes, before.revision) : await store.create(key, bytes);
  cached = { bytes, revision };
  return revision;
}

/** Stores the object without updating the cache, as another master does. */
async function behind(n: number): Promise<number> {
  const kept = cached;
  const revision = await seen(n);
  cached = kept;
  return revision;
}

const update = (decide: (attempt: Attempt) => Decision | Promise<Decision>, dryRun = false) => {
  const counted: Store = {
    ...store,
    get: (name) => {
      reads++;
      return store.get(name);
    },
  };
  const cache = { get: (name: string) => (name === key ? cached : undefined) };
  const server = { store: counted, cache } as unknown as ServerContext;
  return guaranteedUpdate(server, { definition, namespace: 'default', name: 'x', dryRun }, decide);
};
const numberIn = (object: KubeObject) => (object as ConfigMap).data.n;
const stored = async () => {
  const value = await store.get(key);
  return value && numberIn(decodeObject(value.value, value.revision));
};
const plus =
  (more: number, claims?: Claims) =>
  ({ current }: Attempt): Decision => {
    (current as ConfigMap).data.n += more;
    return { type: 'write', object: current, claims };
  };

test('a cached object is changed without a read of the store, and has the version of the write', async () => {
  const before = await seen(1);
  const { type, object } = await update(plus(1));
  assert.equal(type, 'write');
  assert.equal(await stored(), 2);
  assert.equal(object.metadata.resourceVersion, String((await store.get(key))?.revision));
  assert.notEqual(object.metadata.resourceVersion, String(before));
  assert.equal(reads, 0);
});

test('an object that is not cached yet is read from the store', async () => {
  await behind(1);
  await update(plus(1));
  assert.equal(await stored(), 2);
});

test('a missing object is not found', async () => {
  await assert.rejects(update(plus(1)), isNotFound);
});

test('a write on an older state is decided again on the newer one', async () => {
  await seen(1);
  await behind(10);
  const versions: number[] = [];
  await update(({ current, taken }) => {
    versions.push(numberIn(current));
    return plus(1)({ current, taken });
  });
  assert.deepEqual(versions, [1, 10]);
  assert.equal(await stored(), 11);
});

test('a write is skipped as unchanged only if the stored object is current', async () => {
  await seen(1);
  await behind(2);
  const wanted = ({ current }: Attempt): Decision =>
    numberIn(current) === 1 ? { type: 'keep', object: current } : plus(-1)({ current, taken: new Set() });
  assert.equal((await update(wanted)).type, 'write');
  assert.equal(await stored(), 1);
  const same = await seen(1);
  const kept = await update(wanted);
  assert.deepEqual([kept.type, kept.object.metadata.resourceVersion], ['keep', String(same)]);
});

test('a rejection is valid only if it was decided on the state of the store', async () => {
  await seen(1);
  await behind(2);
  const refusesOne = async (attempt: Attempt): Promise<Decision> => {
    if (numberIn(attempt.current) === 1) throw new Error('refused');
    return plus(1)(attempt);
  };
  await update(refusesOne);
  assert.equal(await stored(), 3);
  await seen(1);
  await assert.rejects(update(refusesOne), /^Error: refused$/);
  assert.equal(await stored(), 1);
});

test('an object that was deleted in the meantime is not found, and not created again', async () => {
  const revision = await seen(1);
  await store.delete(key, revision);
  await assert.rejects(update(plus(1)), isNotFound);
  await assert.rejects(
    update(() => {
      throw new Error('never seen');
    }),
    isNotFound,
  );
  assert.equal(await store.get(key), undefined);
});

test('a dry run writes and removes nothing', async () => {
  await seen(1);
  assert.equal(numberIn((await update(plus(1), true)).object), 2);
  assert.equal((await update(({ current }) => ({ type: 'remove', object: current }), true)).type, 'remove');
  assert.equal(await stored(), 1);
});

test('a removal returns the last state of the object, at the revision of its deletion', async () => {
  await seen(7);
  const { type, object } = await update(({ current }) => ({ type: 'remove', object: current }));
  assert.equal(type, 'remove');
  assert.equal(numberIn(object), 7);
  assert.equal(object.metadata.resourceVersion, String(await store.currentRevision()));
  assert.equal(await store.get(key), undefined);
});

test('an object that was changed concurrently is not removed: the new state decides', async () => {
  await seen(1);
  await behind(2);
  const { type } = await update(({ current }) =>
    numberIn(current) === 1 ? { type: 'remove', object: current } : { type: 'keep', object: current },
  );
  assert.equal(type, 'keep');
  assert.equal(reads, 0, 'the store has told what is there');
  assert.equal(await stored(), 2);
});

test('a retry takes over the claim of another object, and a removal releases the claims of its object', async () => {
  await store.create('/registry/configmaps/default/other', encodeObject(map(0)), {
    acquire: [{ key: '/claims/a', owner: 'other' }],
  });
  await seen(1);
  const told: string[][] = [];
  await update(({ current, taken }) => {
    told.push([...taken]);
    const claim = taken.has('/claims/a') ? '/claims/b' : '/claims/a';
    return plus(1, { acquire: [{ key: claim, owner: 'u' }] })({ current, taken });
  });
  assert.deepEqual(told, [[], ['/claims/a']]);
  assert.equal(await stored(), 2);
  const take = (owner: string) =>
    store.create(`/registry/configmaps/default/${owner}`, encodeObject(map(0)), {
      acquire: [{ key: '/claims/b', owner }],
    });
  await assert.rejects(take('heir'), ClaimTakenError);
  cached = undefined;
  await update(({ current }) => ({ type: 'remove', object: current, claims: { release: ['/claims/b'] } }));
  await take('heir');
});

test('a caller gets a conflict when other writers win repeatedly', async () => {
  await seen(0);
  let attempts = 0;
  const failing = update(async ({ current, taken }) => {
    attempts++;
    await behind(attempts);
    return plus(1)({ current, taken });
  });
  await assert.rejects(failing, (error) => isConflict(error) && /too many writers/.test(String(error)));
  assert.equal(attempts, 64);
});

test('any other failure of the store is returned', async () => {
  await seen(1);
  const rest = store;
  store = { ...rest, update: () => Promise.reject(new Error('disk full')) };
  await assert.rejects(update(plus(1)), /disk full/);
  assert.equal(await stored(), 1);
});
