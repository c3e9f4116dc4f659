/** Time that a read waits for the watch cache, and the reads of the store meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { readNow, waitForNow, waitForRevision } from '../../../../src/apiserver/reads/freshness.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { findObject } from '../../../../src/apiserver/stored-object.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const key = '/registry/configmaps/default/a';
const ref = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const objectAt = (revision: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', resourceVersion: String(revision) },
});

/** The cache is at revision 5 and the store at 7 by default; each has the object as of its revision. */
function world({ store = 7, cache = 5, answers = true, has = true } = {}) {
  const clock = new FakeClock();
  const state = { cache, reads: 0 };
  const waiting: { revision: number; resolve: () => void }[] = [];
  const server = {
    clock,
    cache: {
      get revision() {
        return state.cache;
      },
      waitUntil: (revision: number, signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          waiting.push({ revision, resolve });
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      get: (name: string) => (has && name === key ? { object: objectAt(state.cache) } : undefined),
    },
    latest: { ask: async () => store },
    store: {
      async get(name: string) {
        state.reads++;
        if (!answers) throw new Error('the store is away');
        return has && name === key
          ? { key, value: Buffer.from(JSON.stringify(objectAt(0))), revision: store }
          : undefined;
      },
    },
  } as unknown as ServerContext;
  const reach = (revision: number) => {
    state.cache = revision;
    for (const one of waiting) if (one.revision <= revision) one.resolve();
  };
  return { clock, server, state, reach };
}
const { signal } = new AbortController();
const timeout = (message: RegExp, reason?: string) => (error: unknown) => {
  assert.ok(error instanceof StatusError);
  const { code, details } = error.status;
  assert.deepEqual([code, details?.retryAfterSeconds, details?.causes?.[0]?.reason], [504, 1, reason]);
  assert.match(error.message, message);
  return true;
};
const late = timeout(/Too large resource version: 7, current: 5/, 'ResourceVersionTooLarge');
const revisionOf = (found: { object: { metadata: { resourceVersion: string } } } | undefined) =>
  found?.object.metadata.resourceVersion;

describe('waiting for a revision', () => {
  test('ends at once when the cache has the revision', async () => {
    const { server, clock } = world();
    await waitForRevision(server, 5, { signal });
    assert.equal(clock.pending, 0);
  });

  test('ends when the cache reaches the revision, and leaves no timer', async () => {
    const { server, clock, reach } = world();
    const waited = waitForRevision(server, 7, { signal });
    await clock.advance(2999);
    reach(7);
    await waited;
    assert.equal(clock.pending, 0);
  });

  test('fails after three seconds, and ends with the request', async () => {
    const { server, clock } = world();
    const refused = assert.rejects(waitForRevision(server, 7, { signal }), late);
    await clock.advance(3000);
    await refused;
    const leaving = new AbortController();
    const left = assert.rejects(waitForRevision(server, 7, { signal: leaving.signal }), /left/);
    leaving.abort(new Error('left'));
    await left;
    assert.equal(clock.pending, 0);
  });
});

describe('a linearizable read', () => {
  test('waits until the cache is as new as the store', async () => {
    const { server, clock, reach } = world();
    let done = false;
    const waited = waitForNow(server, { signal }).then(() => {
      done = true;
    });
    await clock.advance(100);
    reach(6);
    await clock.settle();
    assert.equal(done, false);
    reach(7);
    await waited;
  });

  test('is refused while the cache shows objects that the store has lost', async () => {
    const { server } = world({ store: 3 });
    const lost = timeout(/etcd lost data: it is at revision 3, and was at 5; try again/);
    await assert.rejects(waitForNow(server, { signal }), lost);
    const same = world({ store: 5 });
    await waitForNow(same.server, { signal });
  });

  test('continues if the cache has restarted in the meantime', async () => {
    const { server, state } = world({ store: 3 });
    server.latest.ask = async () => {
      state.cache = 2;
      setImmediate(() => {
        state.cache = 3;
      });
      return 2;
    };
    await waitForNow(server, { signal });
  });
});

describe('the current state of one object', () => {
  test('is read from the cache when the cache is as new as the store', async () => {
    const { server, state } = world({ cache: 7 });
    assert.equal(revisionOf(await readNow(server, key, { signal })), '7');
    assert.equal(state.reads, 0);
  });

  test('is read from the cache when the event arrives soon', async () => {
    const { server, clock, state, reach } = world();
    const reading = readNow(server, key, { signal });
    await clock.advance(1);
    reach(7);
    assert.equal(revisionOf(await reading), '7');
    await clock.advance(10);
    assert.deepEqual([state.reads, clock.pending], [0, 0], 'the store is not asked any more');
  });

  test('is read from the store when the event is late', async () => {
    const { server, clock, state } = world();
    const reading = readNow(server, key, { signal });
    await clock.advance(2);
    assert.equal(revisionOf(await reading), '7');
    assert.equal(state.reads, 1);
  });

  test('is read from the cache when the store does not answer; if the cache is too old as well, the failure of the store is reported', async () => {
    const away = world({ answers: false });
    const reading = readNow(away.server, key, { signal });
    await away.clock.advance(2);
    away.reach(7);
    assert.equal(revisionOf(await reading), '7');
    const leaving = new AbortController();
    const both = world({ answers: false });
    const left = assert.rejects(readNow(both.server, key, { signal: leaving.signal }), /left/);
    await both.clock.advance(2);
    leaving.abort(new Error('left'));
    await left;
  });

  test('is read from the store if the store has lost the object that the cache has', async () => {
    const { server, state } = world({ store: 3 });
    assert.equal(revisionOf(await readNow(server, key, { signal })), '3');
    assert.equal(state.reads, 1);
    assert.equal(await readNow(world({ store: 3, has: false }).server, key, { signal }), undefined);
  });

  test('is read from the cache for other decisions, and from the store if the cache does not have the object', async () => {
    const { server, state } = world();
    assert.equal((await findObject(server, ref, 'default', 'a'))?.metadata.resourceVersion, '5');
    assert.equal(state.reads, 0);
    server.cache.get = () => undefined;
    assert.equal((await findObject(server, ref, 'default', 'a'))?.metadata.resourceVersion, '7');
    assert.equal(await findObject(server, ref, 'default', 'b'), undefined);
  });
});
