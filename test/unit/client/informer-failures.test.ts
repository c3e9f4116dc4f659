/** Informers whose server fails, lags, or does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { newExpired, newInternalError, StatusError } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { follow, setUp, stored, truth, view } from './informer-rig.ts';

for (const inStream of [false, true]) {
  test(`compacted history (410 ${inStream ? 'in an ERROR event' : 'as the answer'}) leads to a new list`, async () => {
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

test('an expired continue token causes one list without pages', async () => {
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

test('a server that lost data is listed at its current revision', async () => {
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

test('retries have growing delays, which a success resets', async () => {
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

test('a silent watch is opened again, and after two silent watches the objects are listed', async () => {
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
