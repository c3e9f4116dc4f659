/**
 * Reads without a resourceVersion see every write that was acknowledged before the read began, even when
 * reads share a query of the store and the cache lags far behind.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { StoreUnavailableError } from '../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, count: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { count: String(count) },
});

interface Lagging {
  readonly server: TestServer;
  readonly lag: LaggingStore;
}

/** Starts a server whose cache receives events only when the test releases them. */
async function startLagging(shared?: TestServer): Promise<Lagging> {
  let lag: LaggingStore | undefined;
  const server = await startTestServer({
    bare: shared !== undefined,
    wrapStore: (store) => {
      lag = new LaggingStore(shared?.store ?? store);
      return lag.store;
    },
  });
  assert.ok(lag);
  return { server, lag };
}

const countOf = (object: KubeObject) => Number((object as unknown as ReturnType<typeof map>).data.count);

async function put(server: TestServer, name: string, count: number): Promise<void> {
  const { status, text } = await server.call('PUT', `${maps}/${name}`, map(name, count));
  assert.ok(status < 300, text);
}

let own: Lagging;
before(async () => {
  own = await startLagging();
});
afterEach(() => {
  own.lag.holdsAnswers = false;
  own.lag.releaseEvents();
});
after(() => own.server.stop());

async function made(name: string): Promise<void> {
  const { status, text } = await own.server.call('POST', maps, map(name, 0));
  assert.equal(status, 201, text);
  await own.server.cache.waitUntil(await own.server.store.currentRevision());
}

test('a get of an object that the cache does not show yet is answered by the store', async () => {
  const { server, lag } = own;
  await made('direct');
  lag.holdEvents();
  await put(server, 'direct', 1);
  const asked = lag.asked.key;
  const reading = server.call('GET', `${maps}/direct`);
  await server.clock.settle();
  assert.equal(lag.asked.key, asked);
  await server.clock.advance(2);
  const { status, json } = await reading;
  assert.equal(status, 200);
  assert.equal(countOf(json()), 1);
  assert.equal(lag.asked.key, asked + 1);
  assert.equal(countOf(server.cache.get('/registry/configmaps/default/direct')?.object as KubeObject), 0);
});

test('a get is answered by the cache if the event arrives first, and the store is not queried for the key', async () => {
  const { server, lag } = own;
  await made('event');
  lag.holdEvents();
  await put(server, 'event', 1);
  const asked = lag.asked.key;
  const reading = server.call('GET', `${maps}/event`);
  await server.clock.settle();
  lag.releaseEvents();
  assert.equal(countOf((await reading).json()), 1);
  await server.clock.advance(10);
  assert.equal(lag.asked.key, asked);
  assert.equal(server.clock.pending, 0);
});

test('a list waits for the event', async () => {
  const { server, lag } = own;
  await made('listed');
  lag.holdEvents();
  await put(server, 'listed', 1);
  const reading = server.call('GET', `${maps}?fieldSelector=metadata.name%3Dlisted`);
  await server.clock.advance(100);
  assert.equal(countOf(server.cache.get('/registry/configmaps/default/listed')?.object as KubeObject), 0);
  lag.releaseEvents();
  const { items } = (await reading).json<{ items: KubeObject[] }>();
  assert.deepEqual(items.map(countOf), [1]);
});

test('writes outside the tree advance the revision: a list queries the progress of the cache, a get does not', async () => {
  const { server } = own;
  await made('elsewhere');
  await server.store.create('/elsewhere/a', Buffer.from('1'));
  const reading = server.call('GET', `${maps}/elsewhere`);
  await server.clock.advance(2);
  assert.equal((await reading).status, 200);
  const listing = server.call('GET', maps);
  await server.clock.advance(2);
  assert.equal((await listing).status, 200);
});

test('concurrent gets share one query of the revision, and none queries a key', async () => {
  const { server, lag } = own;
  await made('together');
  const { revision, key } = { ...lag.asked };
  const answers = await Promise.all(Array.from({ length: 64 }, () => server.call('GET', `${maps}/together`)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok(lag.asked.revision - revision <= 2, `${lag.asked.revision - revision} questions`);
  assert.equal(lag.asked.key, key);
});

test('an acknowledged deletion is seen, even while the cache still has the object', async () => {
  const { server, lag } = own;
  await made('deleted');
  lag.holdEvents();
  assert.equal((await server.call('DELETE', `${maps}/deleted`)).status, 200);
  assert.equal((await server.call('GET', `${maps}/deleted?resourceVersion=0`)).status, 200);
  const reading = server.call('GET', `${maps}/deleted`);
  await server.clock.advance(2);
  assert.equal((await reading).status, 404);
});

test('an unreachable store fails the reads of one query, and the next read queries again', async () => {
  const { server, lag } = own;
  await made('failing');
  lag.holdsAnswers = true;
  const reads = [server.call('GET', `${maps}/failing`), server.call('GET', maps)];
  await server.clock.settle();
  const [question] = lag.questions.splice(0);
  question?.reject(new StoreUnavailableError('etcd did not answer'));
  lag.holdsAnswers = false;
  for (const { status } of await Promise.all(reads)) assert.equal(status, 503);
  assert.equal((await server.call('GET', `${maps}/failing`)).status, 200);
});

test('the data of a store that lost objects replace the data in the cache', async () => {
  const { server, lag } = own;
  await made('lost');
  const { currentRevision, get } = lag.store;
  Object.assign(lag.store, { currentRevision: async () => 1, get: async () => undefined });
  try {
    assert.equal((await server.call('GET', `${maps}/lost`)).status, 404);
    for (const query of ['', '?limit=5', '?watch=true&timeoutSeconds=1']) {
      const { status, headers, text } = await server.call('GET', `${maps}${query}`);
      assert.deepEqual([status, headers.get('retry-after')], [504, '1'], text);
      assert.match(text, /etcd lost data/);
    }
  } finally {
    Object.assign(lag.store, { currentRevision, get });
  }
  assert.equal((await server.call('GET', maps)).status, 200);
});

test('another master shows each write that the first has acknowledged, even if its cache is behind', async () => {
  const other = await startLagging(own.server);
  try {
    await made('shared');
    other.lag.holdEvents();
    await put(own.server, 'shared', 1);
    const reading = other.server.call('GET', `${maps}/shared`);
    const listing = other.server.call('GET', `${maps}?fieldSelector=metadata.name%3Dshared`);
    await other.server.clock.advance(2);
    assert.equal(countOf((await reading).json()), 1);
    other.lag.releaseEvents();
    assert.deepEqual((await listing).json<{ items: KubeObject[] }>().items.map(countOf), [1]);
  } finally {
    await other.server.stop();
  }
});

for (let seed = 1; seed <= 20; seed++) {
  test(`no read misses a write that was acknowledged before the read began (schedule ${seed})`, async () => {
    const random = new SeededRandom(seed);
    const masters = [await startLagging()];
    masters.push(await startLagging(masters[0]?.server));
    const any = () => masters[random.below(masters.length)] as Lagging;
    const names = ['a', 'b', 'c'];
    const acknowledged = new Map(names.map((name) => [name, 0]));
    const wrong: string[] = [];
    const pending = new Set<Promise<void>>();
    const start = (work: () => Promise<void>) => {
      const working = work().finally(() => pending.delete(working));
      pending.add(working);
    };
    const check = (how: string, name: string, seen: number, least: number) => {
      if (seen < least) wrong.push(`${how} of ${name} saw ${seen} after ${least} was acknowledged`);
    };
    const get = async ({ server }: Lagging, name: string) => {
      const least = acknowledged.get(name) ?? 0;
      const { status, json } = await server.call('GET', `${maps}/${name}`);
      check('get', name, status === 200 ? countOf(json()) : -1, least);
    };
    const list = async ({ server }: Lagging) => {
      const least = new Map(acknowledged);
      const { items } = (await server.call('GET', maps)).json<{ items: KubeObject[] }>();
      const seen = new Map(items.map((item) => [item.metadata.name, countOf(item)]));
      for (const name of names) check('list', name, seen.get(name) ?? -1, least.get(name) ?? 0);
    };
    const steps: (() => Promise<unknown> | undefined)[] = [
      async () => {
        const name = names[random.below(names.length)] ?? '';
        const next = (acknowledged.get(name) ?? 0) + 1;
        await put(any().server, name, next);
        acknowledged.set(name, next);
      },
      () => void start(() => get(any(), names[random.below(names.length)] ?? '')),
      () => void start(() => list(any())),
      () => void any().lag.holdEvents(),
      () => void any().lag.releaseEvents(),
      () => void any().lag.questions.shift()?.resolve(),
      () => void Object.assign(any().lag, { holdsAnswers: random.next() < 0.7 }),
      () => any().server.clock.advance(random.below(4)),
      () => any().server.clock.settle(),
    ];
    for (const name of names) {
      const { status, text } = await (masters[0] as Lagging).server.call('POST', maps, map(name, 0));
      assert.equal(status, 201, text);
    }
    for (let step = 0; step < 150; step++) await steps[random.below(steps.length)]?.();
    while (pending.size > 0) {
      for (const { server, lag } of masters) {
        lag.holdsAnswers = false;
        for (const question of lag.questions.splice(0)) question.resolve();
        lag.releaseEvents();
        await server.clock.advance(1);
      }
    }
    for (const { server } of masters.toReversed()) await server.stop();
    assert.deepEqual(wrong, []);
  });
}
