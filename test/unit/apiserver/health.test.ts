/** Health endpoints: liveness, readiness, and the users who may read the reasons. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { StoreUnavailableError } from '../../../src/storage/store.ts';
import { admin, createTestApi, startTestServer, type TestServer } from '../../fixtures/api-server.ts';

let server: TestServer;
let synced: boolean;
/** State of the store when its revision is read. */
let store: 'well' | 'broken' | 'silent';
let problem: string | undefined;
beforeEach(async () => {
  synced = true;
  store = 'well';
  problem = undefined;
  server = await startTestServer({
    cacheSynced: () => synced,
    wrapStore: (real) => ({
      ...real,
      problem: () => problem,
      currentRevision: () => {
        if (store === 'silent') return new Promise(() => undefined);
        return store === 'broken'
          ? Promise.reject(new StoreUnavailableError('gone'))
          : real.currentRevision();
      },
    }),
  });
});
afterEach(() => server.stop());

const ask = async (path: string) => {
  const { status, text, headers } = await server.call('GET', path);
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  return `${status} ${text}`;
};
/** A request from an anonymous client. */
const askUnknown = async (path: string) => {
  const answer = await server.app.fetch(new Request(`https://apiserver${path}`), {});
  return `${answer.status} ${await answer.text()}`;
};

describe('a healthy server', () => {
  for (const [path, answer] of [
    ['/livez', '200 ok'],
    ['/readyz', '200 ok'],
    ['/healthz', '200 ok'],
    ['/livez/ping', '200 ok'],
    ['/readyz/etcd', '200 ok'],
    ['/readyz/informer-sync', '200 ok'],
    ['/healthz/etcd', '200 ok'],
    ['/livez?verbose', '200 [+]ping ok\nlivez check passed\n'],
    ['/livez?verbose&exclude=etcd', '200 [+]ping ok\nlivez check passed\n'],
    [
      '/readyz?verbose',
      '200 [+]ping ok\n[+]etcd ok\n[+]etcd-room ok\n[+]informer-sync ok\nreadyz check passed\n',
    ],
    [
      '/readyz?verbose&exclude=etcd&exclude=ping',
      '200 [+]etcd-room ok\n[+]informer-sync ok\nreadyz check passed\n',
    ],
    ['/readyz/etcd?verbose', '200 [+]etcd ok\nreadyz check passed\n'],
    ['/healthz?verbose', '200 [+]ping ok\n[+]etcd ok\nhealthz check passed\n'],
    ['/livez?exclude=ping', '200 ok'],
    ['/livez/etcd', '404 404 page not found\n'],
    ['/healthz/informer-sync', '404 404 page not found\n'],
    ['/readyz/none', '404 404 page not found\n'],
  ] as const)
    test(`answers ok on ${path}`, async () => {
      assert.equal(await ask(path), answer);
      assert.equal(await askUnknown(path), answer);
    });
});

describe('a server whose store does not answer', () => {
  beforeEach(() => {
    store = 'broken';
  });

  test('is alive and not ready', async () => {
    assert.equal(await ask('/livez'), '200 ok');
    const readyz =
      '500 [+]ping ok\n[-]etcd failed: gone\n[+]etcd-room ok\n[+]informer-sync ok\nreadyz check failed\n';
    assert.equal(await ask('/readyz'), readyz);
    assert.equal(await ask('/readyz/etcd'), '500 [-]etcd failed: gone\nreadyz check failed\n');
    assert.equal(await ask('/healthz'), '500 [+]ping ok\n[-]etcd failed: gone\nhealthz check failed\n');
    assert.equal(await ask('/readyz?exclude=etcd'), '200 ok');
    // A check that is requested by its own path runs although it is excluded.
    assert.match(await ask('/readyz/etcd?exclude=etcd'), /^500 /);
  });

  test('does not state the reason to anonymous users', async () => {
    const why = 'reason withheld from unauthenticated clients';
    assert.equal(await askUnknown('/readyz/etcd'), `500 [-]etcd failed: ${why}\nreadyz check failed\n`);
  });

  test('waits two seconds for its store', async () => {
    store = 'silent';
    const pending = server.clock.pending;
    let answer: string | undefined;
    const asked = ask('/readyz/etcd').then((text) => {
      answer = text;
    });
    await server.clock.advance(1999);
    assert.equal(answer, undefined);
    await server.clock.advance(1);
    await asked;
    assert.match(answer ?? '', /^500 \[-\]etcd failed: no answer within two seconds\n/);
    store = 'well';
    await ask('/readyz/etcd');
    assert.equal(server.clock.pending, pending, 'a timer was left');
  });

  test('a store that is silent for a known reason fails with that reason', async () => {
    store = 'silent';
    problem = 'no majority';
    const pending = server.clock.pending;
    let answer: string | undefined;
    const asked = ask('/readyz/etcd').then((text) => {
      answer = text;
    });
    await server.clock.advance(1999);
    assert.equal(answer, undefined);
    await server.clock.advance(1);
    await asked;
    assert.match(answer ?? '', /^500 \[-\]etcd failed: no majority\n/);
    store = 'well';
    await ask('/readyz/etcd');
    assert.equal(server.clock.pending, pending, 'a timer was left');
  });
});

test('a server whose cache has not listed the store is not ready', async () => {
  synced = false;
  const why = 'the watch cache has not listed the store yet';
  assert.equal(
    await ask('/readyz/informer-sync'),
    `500 [-]informer-sync failed: ${why}\nreadyz check failed\n`,
  );
  assert.equal(await ask('/healthz'), '200 ok');
  synced = true;
  assert.equal(await ask('/readyz'), '200 ok');
});

test('a server without a message on its cache is as ready as the cache', async () => {
  const { api, clock } = createTestApi({ bare: true });
  const isReady = async () => {
    const request = new Request('https://apiserver/readyz/informer-sync');
    return (await api.server.handlerFor(admin)(request)).status;
  };
  assert.equal(await isReady(), 500);
  const stop = new AbortController();
  const running = api.run(async () => {
    assert.equal(await isReady(), 200);
    stop.abort();
  }, stop.signal);
  await clock.until(running);
});
