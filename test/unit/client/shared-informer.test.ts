import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { objectKey } from '../../../src/apimachinery/meta.ts';
import { newExpired, newInternalError, StatusError } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import type { Informer } from '../../../src/client/informer.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelServer } from './model-server.ts';

function setUp(seed = 1, pageSize = 3, silenceMs = 90_000) {
  const log = new RecordingLogger();
  const server = new ModelServer();
  const clock = new FakeClock();
  const client = createClient(inProcessTransport(server.handler));
  const factory = createInformerFactory({
    client,
    clock,
    random: new SeededRandom(seed),
    log,
    pageSize,
    silenceMs,
  });
  const informer = factory.informerFor(configMapResource);
  const stop = new AbortController();
  const start = async () => {
    const started = factory.start(stop.signal);
    await clock.settle();
    return started;
  };
  const end = async () => {
    stop.abort();
    await factory.stopped();
    assert.equal(clock.pending, 0, 'no timer is left behind');
    assert.equal(server.watching, 0, 'no watch is left behind');
    assert.deepEqual(log.of('error'), [], 'no handler threw');
  };
  return { server, clock, log, factory, informer, start, end, stop };
}

/** Folds what a handler is told into the world it describes, and fails when the telling is inconsistent. */
function follow(informer: Informer<ConfigMap>) {
  const world = new Map<string, string>();
  const told: string[] = [];
  const say = (what: string, object: ConfigMap) => {
    assert.ok(Object.isFrozen(object) && Object.isFrozen(object.metadata), 'objects are deeply frozen');
    told.push(`${what} ${object.metadata.name}`);
  };
  informer.addEventHandler({
    onAdd(object) {
      say('add', object);
      assert.ok(!world.has(objectKey(object)), `${objectKey(object)} is added twice`);
      assert.equal(informer.lister.get(objectKey(object)), object, 'the store is ahead of the handler');
      world.set(objectKey(object), object.metadata.resourceVersion);
    },
    onUpdate(object, old) {
      say('update', object);
      assert.equal(world.get(objectKey(object)), old.metadata.resourceVersion, 'old is what was told last');
      assert.ok(Number(object.metadata.resourceVersion) > Number(old.metadata.resourceVersion), 'never back');
      assert.equal(object.metadata.uid, old.metadata.uid);
      world.set(objectKey(object), object.metadata.resourceVersion);
    },
    onDelete(object) {
      say('delete', object);
      assert.ok(world.delete(objectKey(object)), `${objectKey(object)} is deleted without having been`);
    },
  });
  return { world, told };
}

const truth = (server: ModelServer) =>
  Object.fromEntries(
    [...server.objects].map(([key, object]) => [key, object.metadata.resourceVersion]).sort(),
  );

const view = (world: Iterable<[string, string]>) => Object.fromEntries([...world].sort());

const stored = (informer: Informer<ConfigMap>) =>
  view(informer.lister.list().map((object) => [objectKey(object), object.metadata.resourceVersion]));

test('lists in pages from any version, then watches from the version of the list', async () => {
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

test('handlers are called in order; late ones get everything there is', async () => {
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

test('a handler that throws stops neither the others nor later events', async () => {
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

test('old news, sent again, changes nothing', async () => {
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

test('a bookmark moves the version to resume from', async () => {
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

for (const inStream of [false, true]) {
  test(`history that is gone (410 ${inStream ? 'in an ERROR event' : 'as the answer'}) is made up for`, async () => {
    const { server, clock, informer, start, end } = setUp();
    server.expireInStream = inStream;
    server.put('stays');
    server.put('goes');
    server.put('changes');
    server.put('made-again');
    const { told, world } = follow(informer);
    await start();
    const last = informer.lister.get('default/goes');
    let deleted: ConfigMap | undefined;
    informer.addEventHandler({
      onDelete(object) {
        if (object.metadata.name === 'goes') deleted = object;
      },
    });
    told.length = 0;
    server.disconnect();
    server.remove('goes');
    server.put('changes');
    server.remove('made-again');
    server.put('made-again');
    server.put('new');
    server.compact();
    await clock.advance(10_000);
    assert.deepEqual(told.toSorted(), [
      'add made-again',
      'add new',
      'delete goes',
      'delete made-again',
      'update changes',
    ]);
    assert.equal(deleted, last, 'the deletion shows the last state that was known');
    assert.deepEqual(view(world), truth(server));
    await end();
  });
}

test('a continue token that expired leads to one list in one piece', async () => {
  const { server, informer, start, end } = setUp();
  for (let i = 0; i < 5; i++) server.put(`map-${i}`);
  const original = server.handler;
  let pages = 0;
  const client = createClient(
    inProcessTransport((request) => {
      if (request.url.includes('continue=') && pages++ === 0) server.compact();
      return original(request);
    }),
  );
  const clock = new FakeClock();
  const factory = createInformerFactory({
    client,
    clock,
    random: new SeededRandom(1),
    log: silentLogger,
    pageSize: 2,
  });
  const other = factory.informerFor(configMapResource);
  const stop = new AbortController();
  await factory.start(stop.signal);
  assert.equal(other.lister.list().length, 5);
  assert.equal(server.requests[2], 'GET /api/v1/configmaps?resourceVersion=0');
  stop.abort();
  await factory.stopped();
  assert.equal(informer.hasSynced, false);
  await start();
  await end();
});

test('a server that is behind (it lost data) is asked for what it has now', async () => {
  const { server, clock, informer, start, end } = setUp();
  server.put('a');
  await start();
  server.disconnect();
  server.refusals.push(newExpired('gone'));
  server.refusals.push(
    new StatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Timeout',
      code: 504,
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    }),
  );
  await clock.advance(5_000);
  const lists = server.requests.filter((line) => !line.includes('watch'));
  assert.deepEqual(lists, [
    'GET /api/v1/configmaps?limit=3&resourceVersion=0',
    'GET /api/v1/configmaps?limit=3&resourceVersion=11',
    'GET /api/v1/configmaps?limit=3',
  ]);
  assert.deepEqual(stored(informer), truth(server));
  await end();
});

test('failures are met with growing delays, and success with the first delay again', async () => {
  const { server, clock, start, end } = setUp();
  for (let i = 0; i < 4; i++) server.refusals.push(newInternalError('down'));
  const started = start();
  const delays: number[] = [];
  for (let i = 0; i < 4; i++) {
    await clock.settle();
    const wait = clock.nextIn ?? 0;
    delays.push(wait);
    await clock.advance(wait);
  }
  await started;
  delays.forEach((delay, i) => {
    const least = 800 * 2 ** i;
    assert.ok(delay >= least && delay <= 2 * least, `delay ${i} is ${delay}`);
  });
  server.put('a');
  await clock.settle();
  server.disconnect();
  await clock.settle();
  assert.ok((clock.nextIn ?? 0) <= 1_600);
  await clock.advance(2_000);
  assert.equal(server.watching, 1);
  await end();
});

test('a watch that says nothing is opened again, and after two of them the list is asked for', async () => {
  const { server, clock, start, end } = setUp();
  await start();
  await clock.advance(90_000);
  assert.deepEqual(
    server.requests.map((line) => line.includes('watch')),
    [false, true, true],
  );
  assert.equal(server.watching, 1);
  await clock.advance(90_000);
  assert.deepEqual(
    server.requests.map((line) => line.includes('watch')),
    [false, true, true, false, true],
  );
  server.bookmark();
  await clock.advance(90_000);
  assert.equal(server.requests.length, 5, 'a bookmark is a sign of life');
  await end();
});

test('indexes follow every change', async () => {
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

test('whatever happens, store and handlers end at what the server has', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new SeededRandom(seed);
    // A silent watch would be made up for by a list, and hide what was lost.
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
