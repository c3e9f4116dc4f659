import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimLostError, StoreUnavailableError } from '../../../src/storage/store.ts';
import { beginTerm, duringTerm } from '../../../src/storage/term.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';

const bytes = (text: string) => Buffer.from(text);

test('a leader can write during its term, and not after the next one has begun', async () => {
  const store = createMemoryStore();
  const over: string[] = [];
  const first = duringTerm(store, await beginTerm(store, 'lock', 7), (why) => over.push(why));
  const revision = await first.create('/registry/pods/a', bytes('1'));
  const second = duringTerm(store, await beginTerm(store, 'lock', 9), (why) => over.push(why));
  assert.deepEqual(over, []);
  for (const late of [
    () => first.create('/registry/pods/b', bytes('late')),
    () => first.update('/registry/pods/a', bytes('late'), revision),
    () => first.delete('/registry/pods/a', revision),
  ]) {
    await assert.rejects(late(), ClaimLostError);
  }
  assert.deepEqual(over, Array(3).fill('/claims/terms/lock is held by 9, not by 7'));
  assert.equal((await store.list('/registry/')).items.length, 1);
  await second.update('/registry/pods/a', bytes('2'), revision);
  assert.equal((await first.get('/registry/pods/a'))?.value.toString(), '2', 'it may read');
});

test('an older term cannot begin after a newer one, also if both begin at the same time', async () => {
  const store = createMemoryStore();
  await beginTerm(store, 'lock', 9);
  await assert.rejects(beginTerm(store, 'lock', 7), ClaimLostError);
  await beginTerm(store, 'lock', 9);
  await beginTerm(store, 'other', 1);
  const both = await Promise.allSettled([beginTerm(store, 'lock', 11), beginTerm(store, 'lock', 10)]);
  assert.equal(both[0].status, 'fulfilled');
  await assert.rejects(beginTerm(store, 'lock', 10), ClaimLostError);
});

test('a term whose key was removed has ended: nothing is written until another term begins', async () => {
  const store = createMemoryStore();
  const over: string[] = [];
  const leader = duringTerm(store, await beginTerm(store, 'lock', 7), (why) => over.push(why));
  const key = await store.get('/claims/terms/lock');
  assert.ok(key);
  await store.delete(key.key, key.revision);
  await assert.rejects(leader.create('/registry/pods/a', bytes('1')), ClaimLostError);
  assert.deepEqual(over, ['/claims/terms/lock is held by nobody, not by 7']);
  const next = duringTerm(store, await beginTerm(store, 'lock', 12), (why) => over.push(why));
  await next.create('/registry/pods/a', bytes('1'));
});

test('the claims of a write are checked together with the term of the leader', async () => {
  const store = createMemoryStore();
  const leader = duringTerm(store, await beginTerm(store, 'lock', 7), () => undefined);
  const ip = (owner: string) => ({ acquire: [{ key: '/claims/cluster-ips/10.96.0.9', owner }] });
  await leader.create('/registry/services/a', bytes('a'), ip('a'));
  await assert.rejects(leader.create('/registry/services/b', bytes('b'), ip('b')), {
    name: 'ClaimTakenError',
  });
});

test('the later of two terms that begin at the same time is stored', async () => {
  const store = createMemoryStore();
  const [early, late] = await Promise.allSettled([beginTerm(store, 'lock', 1), beginTerm(store, 'lock', 2)]);
  assert.deepEqual([early.status, late.status], ['fulfilled', 'fulfilled']);
  assert.equal((await store.get('/claims/terms/lock'))?.value.toString(), '2');
  const begin = (term: number) => beginTerm(store, 'lock', term).then(() => 'begun');
  assert.deepEqual(await Promise.all([begin(4), begin(5)]), ['begun', 'begun']);
  assert.equal((await store.get('/claims/terms/lock'))?.value.toString(), '5');
});

test('a term does not begin while the store does not answer', async () => {
  const away = async () => {
    throw new StoreUnavailableError('away');
  };
  for (const store of [
    { ...createMemoryStore(), create: away },
    { ...createMemoryStore(), get: async () => ({ key: 'k', value: bytes('1'), revision: 1 }), update: away },
  ])
    await assert.rejects(beginTerm(store, 'lock', 7), StoreUnavailableError);
});

test("a lost claim of the leader's write does not end its term", async () => {
  const store = createMemoryStore();
  let over = 0;
  const leader = duringTerm(store, await beginTerm(store, 'lock', 7), () => over++);
  const holding = [{ key: '/claims/else', owner: 'me' }];
  await assert.rejects(leader.create('/registry/a', bytes('1'), { holding }), ClaimLostError);
  await leader.create('/registry/a', bytes('1'), { acquire: holding });
  await leader.create('/registry/b', bytes('1'), { holding });
  assert.equal(over, 0);
});
