import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectKey } from '../../../src/apimachinery/meta.ts';
import { newExpired, newInternalError } from '../../../src/apimachinery/status-error.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { follow, setUp, stored, truth, view } from './informer-rig.ts';

test('an informer lists in pages from any version, and then watches from the version of the list', async () => {
  const { server, informer, start, end } = setUp();
  for (let i = 0; i < 7; i++) server.put(`map-${i}`);
  const { told } = follow(informer);
  await start();
  assert.equal(informer.hasSynced, true);
  assert.equal(informer.lister.list().length, 7);
  assert.deepEqual(
    server.requests.map((line) => line.replace(/timeoutSeconds=\d+/, 'timeoutSeconds=N')),
    [
      'GET /api/v1/configmaps?limit=3&resourceVersion=0',
      'GET /api/v1/configmaps?limit=3&continue=17.3',
      'GET /api/v1/configmaps?limit=3&continue=17.6',
      'GET /api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=17&timeoutSeconds=N',
    ],
  );
  const timeout = Number(/timeoutSeconds=(\d+)/.exec(server.requests[3] ?? '')?.[1]);
  assert.ok(timeout >= 300 && timeout < 600);
  assert.equal(told.length, 7);
  await end();
});

test('handlers are called in order, and a late one gets all current objects', async () => {
  const { server, clock, informer, start, end } = setUp();
  server.put('a');
  const first = follow(informer);
  await start();
  server.put('b');
  server.put('a');
  server.remove('b');
  await clock.settle();
  assert.deepEqual(first.told, ['add a', 'add b', 'update a', 'delete b']);
  const late = follow(informer);
  assert.deepEqual(late.told, ['add a']);
  server.put('c');
  await clock.settle();
  assert.deepEqual(late.told, ['add a', 'add c']);
  await end();
});

test('a handler that throws affects neither other handlers nor later events', async () => {
  const { server, clock, log, informer, start, end } = setUp();
  informer.addEventHandler({
    onAdd() {
      throw new Error('a bug');
    },
  });
  const { told } = follow(informer);
  await start();
  server.put('a');
  server.put('b');
  await clock.settle();
  assert.deepEqual(told, ['add a', 'add b']);
  assert.equal(log.lines.splice(0).length, 2);
  await end();
});

test('a lost watch resumes after the last event and delivers nothing twice', async () => {
  const { server, clock, informer, start, end } = setUp();
  const { told } = follow(informer);
  await start();
  server.put('a');
  await clock.settle();
  server.disconnect();
  server.put('b');
  await clock.advance(5_000);
  assert.deepEqual(told, ['add a', 'add b']);
  assert.match(server.requests.at(-1) ?? '', /watch=1.*resourceVersion=11/);
  assert.equal(server.requests.filter((line) => !line.includes('watch')).length, 1, 'it did not list again');
  await end();
});

test('a repeated old event changes nothing', async () => {
  const { server, clock, informer, start, end } = setUp();
  const { told } = follow(informer);
  await start();
  server.put('a');
  server.remove('a');
  server.put('a');
  for (const change of [0, 1, 2]) server.repeat(() => change);
  await clock.settle();
  assert.deepEqual(told, ['add a', 'delete a', 'add a']);
  assert.deepEqual(stored(informer), truth(server));
  await end();
});

test('a bookmark updates the version at which the watch resumes', async () => {
  const { server, clock, start, end } = setUp();
  await start();
  server.revision = 500;
  server.bookmark();
  await clock.settle();
  server.endWatches();
  await clock.settle();
  assert.match(server.requests.at(-1) ?? '', /resourceVersion=500/);
  await end();
});

test('indexes are updated with every change', async () => {
  const { server, clock, informer, start, end } = setUp();
  informer.addIndex('initial', (object) => [object.metadata.name.slice(0, 1)]);
  server.put('apple');
  server.put('pear', 'other');
  await start();
  const names = (value: string) =>
    informer.lister.byIndex('initial', value).map((object) => object.metadata.name);
  server.put('avocado');
  server.remove('apple');
  await clock.settle();
  assert.deepEqual(names('a'), ['avocado']);
  assert.deepEqual(names('x'), []);
  assert.deepEqual(informer.lister.list('other').map(objectKey), ['other/pear']);
  assert.throws(() => informer.lister.byIndex('nothing', 'x'), /no index "nothing"/);
  assert.throws(() => informer.addIndex('initial', () => []), /another function/);
  await end();
});

test('start rejects when it is stopped before the first list', async () => {
  const { server, clock, factory, stop } = setUp();
  server.failures.push(new Error('down'));
  const started = factory.start(stop.signal);
  await clock.settle();
  const rejected = assert.rejects(started, { name: 'AbortError' });
  stop.abort();
  await rejected;
  await factory.stopped();
  assert.equal(clock.pending, 0);
});

test('after any series of failures the store and the handlers have the state of the server', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new SeededRandom(seed);
    // The timeout of a silent watch would lead to a list, which would hide lost events.
    const { server, clock, informer, start, end } = setUp(seed, 1 + random.below(4), 1e9);
    server.cut = (bytes) => {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const length = 1 + random.below(60);
        pieces.push(bytes.subarray(at, at + length));
        at += length;
      }
      return pieces;
    };
    const name = () => `map-${random.below(8)}`;
    const disturb: readonly (() => void)[] = [
      () => server.put(name()),
      () => server.put(name()),
      () => server.put(name()),
      () => server.remove(name()),
      () => server.remove(name()),
      () => server.compact(),
      () => server.bookmark(),
      () => server.repeat((count) => random.below(Math.max(1, count))),
      () => server.disconnect(random.below(2) === 0),
      () => server.endWatches(),
      () => server.failures.push(new Error('connection refused')),
      () => server.refusals.push(random.below(2) ? newInternalError('down') : newExpired('gone')),
    ];
    for (let i = 0; i < 5; i++) server.put(name());
    const { world } = follow(informer);
    const started = start();
    for (let step = 0; step < 120; step++) {
      server.expireInStream = random.below(2) === 0;
      for (let burst = random.below(4); burst >= 0; burst--) disturb[random.below(disturb.length)]?.();
      if (random.below(3) === 0) await clock.advance(random.below(3_000));
      else if (random.below(2)) await clock.settle();
    }
    server.failures.length = 0;
    server.refusals.length = 0;
    await clock.advance(120_000);
    await started;
    assert.deepEqual(stored(informer), truth(server), `store, seed ${seed}`);
    assert.deepEqual(view(world), truth(server), `handlers, seed ${seed}`);
    await end();
  }
});
