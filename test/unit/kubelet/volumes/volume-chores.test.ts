/** Work of an agent on volumes: when it begins, stops and retries, and the events on the volume. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PersistentVolume } from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { newConflict, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { Client } from '../../../../src/client/client.ts';
import { VolumeChores, type VolumeChoresOptions } from '../../../../src/kubelet/volumes/volume-chores.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { referenceTo, volume } from '../../controllers/volumes/objects.ts';

type Over = NonNullable<Parameters<typeof volume>[1]>;
const released = (over: Over = {}) =>
  volume('v', {
    metadata: { labels: { 'minik8s.io/node': 'n1' }, ...over.metadata },
    spec: { persistentVolumeReclaimPolicy: 'Recycle', claimRef: referenceTo('c'), ...over.spec },
    status: { phase: 'Released', ...over.status },
  });

let clock: FakeClock;
let stored: Map<string, PersistentVolume>;
let writes: PersistentVolume[];
/** Returns the error with which the write of a status fails. */
let refuse: () => Error | undefined;
/** Work on a volume, for `remove` as well as `empty`. */
let work: (signal: AbortSignal) => Promise<void>;
let done: string[];
let chores: VolumeChores;
let stop: AbortController;
let running: Promise<void>;
beforeEach(async () => {
  [clock, stored, writes, done] = [new FakeClock(), new Map(), [], []];
  refuse = () => undefined;
  work = async () => undefined;
  const client = {
    resource: () => ({
      list: async () => ({ metadata: { resourceVersion: '1' }, items: [...stored.values()] }),
      async *watch({ signal }: { signal: AbortSignal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
      get: async (name: string) => {
        const found = stored.get(name);
        if (!found) throw newNotFound(persistentVolumeResource, name);
        return found;
      },
      updateStatus: async (next: PersistentVolume) => {
        const error = refuse();
        if (error) throw error;
        writes.push(next);
        stored.set(next.metadata.name, next);
        return next;
      },
    }),
  } as unknown as Client;
  const step = (name: string) => async (_: PersistentVolume, signal: AbortSignal) => {
    done.push(name);
    await work(signal);
  };
  const run: VolumeChoresOptions['run'] = { remove: step('remove'), empty: step('empty') };
  chores = new VolumeChores({
    ...{ nodeName: 'n1', client, clock, random: new SeededRandom(1), log: silentLogger, run },
  });
  stop = new AbortController();
  running = chores.run(stop.signal);
  await clock.settle();
});
afterEach(async () => {
  stop.abort();
  await running;
});
/** Stores the volume on the server, and shows it to the agent. */
const see = async (one: PersistentVolume) => {
  stored.set(one.metadata.name, one);
  chores.apply({ type: 'MODIFIED', object: one });
  await clock.settle();
};
const said = () => stored.get('v')?.status;

describe('an agent', () => {
  it('empties a volume once for its next claim, and reports it', async () => {
    await see(released({ status: { phase: 'Failed', message: 'no', reason: 'Stuck' } }));
    assert.deepEqual([done, said()], [['empty'], { phase: 'Released', reason: 'Emptied' }]);
    await see(stored.get('v') ?? assert.fail());
    assert.deepEqual([done.length, writes.length], [1, 1]);
  });

  it('removes its own folder of a deleted volume', async () => {
    await see(
      released({
        metadata: {
          labels: { 'minik8s.io/node': 'n1' },
          annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' },
          finalizers: ['minik8s.io/folder'],
          deletionTimestamp: '2026-01-01T00:00:00Z',
        },
        spec: { persistentVolumeReclaimPolicy: 'Delete' },
      }),
    );
    assert.deepEqual([done, said()?.reason], [['remove'], 'FolderRemoved']);
  });

  it("uses the server's state, and not its earlier observation", async () => {
    stored.set('v', released({ status: { phase: 'Bound' } }));
    chores.apply({ type: 'MODIFIED', object: released() });
    await clock.settle();
    stored.delete('v');
    chores.replace([released()]);
    await clock.settle();
    assert.deepEqual([done, writes], [[], []]);
  });

  it('retries with growing pauses, and reports the same failure once', async () => {
    let left = 3;
    work = async () => {
      if (left-- > 0) throw new Error('busy');
    };
    await see(released());
    assert.deepEqual(said(), { phase: 'Failed', reason: 'Stuck', message: 'busy' });
    await clock.advance(1_000);
    await clock.advance(2_000);
    assert.deepEqual([done.length, writes.length], [3, 1]);
    await clock.advance(3_999);
    assert.equal(done.length, 3);
    await clock.advance(1);
    assert.deepEqual([done.length, said()], [4, { phase: 'Released', reason: 'Emptied' }]);
  });

  it('keeps the message that another client wrote', async () => {
    work = () => Promise.reject(new Error('busy'));
    await see(released());
    const told = released({ status: { phase: 'Failed', message: 'Recycle failed: busy' } });
    stored.set('v', told);
    await clock.advance(3_000);
    assert.ok(done.length > 2);
    assert.equal(stored.get('v'), told);
  });

  it('reports a different failure as well', async () => {
    let [left, why] = [2, 'first'];
    work = async () => {
      if (left-- > 0) throw new Error(why);
    };
    await see(released());
    why = 'second';
    await clock.advance(1_000);
    assert.equal(said()?.message, 'second');
    assert.equal(writes.length, 2);
    await clock.advance(2_000);
    assert.equal(said()?.reason, 'Emptied');
  });

  it('reports a failure later if the first report of it failed', async () => {
    work = () => Promise.reject(new Error('busy'));
    refuse = () => new Error('the server is away');
    await see(released());
    assert.equal(said()?.message, undefined);
    refuse = () => undefined;
    await clock.advance(1_000);
    assert.equal(said()?.message, 'busy');
  });

  it('repeats a chore that it could not report', async () => {
    let left = 1;
    refuse = () => (left-- > 0 ? new Error('the server is away') : undefined);
    await see(released());
    await clock.advance(1_000);
    assert.deepEqual([done, said()?.reason], [['empty', 'empty'], 'Emptied']);
  });

  it('leaves a changed volume to the next check', async () => {
    refuse = () => newConflict(persistentVolumeResource, 'v', 'it has changed');
    await see(released());
    await clock.advance(10_000);
    assert.equal(done.length, 1);
    refuse = () => undefined;
    await see(released());
    assert.equal(said()?.reason, 'Emptied');
  });

  for (const [what, end] of [
    ['is bound again', () => see(released({ status: { phase: 'Bound' } }))],
    ['is retained now', () => see(released({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }))],
    [
      'is assigned to another node',
      () => see(released({ metadata: { labels: { 'minik8s.io/node': 'n2' } } })),
    ],
    [
      'is deleted',
      async () => {
        stored.delete('v');
        chores.apply({ type: 'DELETED', object: released() });
        await clock.settle();
      },
    ],
    [
      'is missing from a new list',
      async () => {
        stored.delete('v');
        chores.replace([]);
        await clock.settle();
      },
    ],
  ] as const)
    it(`stops when the volume ${what}, without a report`, async () => {
      let stopped = false;
      work = (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(signal.reason);
          }),
        );
      await see(released());
      await end();
      await clock.advance(600_000);
      assert.deepEqual([stopped, done.length, writes], [true, 1, []]);
    });

  it('reports nothing about a volume that was bound during its work', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    await see(released());
    stored.set('v', released({ status: { phase: 'Bound' } }));
    resolve();
    await clock.settle();
    assert.deepEqual(writes, []);
  });

  it('checks a volume again that was changed during its work', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    await see(released());
    // The volume was freed, bound, and released once more: the earlier work does not count.
    await see(released({ metadata: { labels: { 'minik8s.io/node': 'n1' }, resourceVersion: '9' } }));
    refuse = () => newConflict(persistentVolumeResource, 'v', 'it has changed');
    resolve();
    await clock.settle();
    assert.equal(done.length, 2);
  });
});
