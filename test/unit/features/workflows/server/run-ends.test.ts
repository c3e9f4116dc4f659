/** Waiting for the ends of runs, with one watch for all waiting requests, and no watch without any. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { RunEnds } from '../../../../../src/features/workflows/server/run-ends.ts';
import type { Cache, CacheEvent, CacheWatch } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { meta } from '../../../controllers/objects.ts';

const run = (name: string, phase?: string): WorkflowRun =>
  ({
    kind: 'WorkflowRun',
    metadata: meta(name),
    spec: {},
    status: phase && { phase },
  }) as unknown as WorkflowRun;

function world() {
  const objects = new Map<string, WorkflowRun>();
  const watches = new Set<CacheWatch>();
  /** Kind of each begun watch, and the revision at which it began. */
  const watched: [string, number][] = [];
  /** Resolves when the cache shows the last write. */
  const shown = Promise.withResolvers<void>();
  const cache = {
    revision: 1,
    waitUntil: () => shown.promise,
    get: (key: string) => objects.has(key) && { object: objects.get(key) },
    watch: (prefix: string, from: number, watch: CacheWatch) => {
      watched.push([prefix.split('/').filter(Boolean).at(-1) ?? '', from]);
      watches.add(watch);
      return () => void watches.delete(watch);
    },
  };
  const clock = new FakeClock();
  const ends = new RunEnds(cache as unknown as Cache, clock);
  const put = (one: WorkflowRun, isSeen = true) => {
    const key = storageKey(workflowRunResource, 'default', one.metadata.name);
    objects.set(key, one);
    if (isSeen) for (const watch of [...watches]) watch.onEvents([{ key } as CacheEvent], 2);
  };
  const remove = (name: string) => {
    const key = storageKey(workflowRunResource, 'default', name);
    objects.delete(key);
    for (const watch of [...watches]) watch.onEvents([{ key } as CacheEvent], 2);
  };
  const expire = () => {
    for (const watch of [...watches]) {
      watches.delete(watch);
      watch.onExpired();
    }
  };
  const of = (name: string, ms = 60_000, signal = new AbortController().signal) => {
    const result: { phase?: string | undefined; over?: true } = {};
    void ends
      .of(run(name), ms, signal)
      .then((ended) => Object.assign(result, { over: true, phase: ended?.status?.phase }));
    return result;
  };
  return { clock, put, of, watches, watched, expire, remove, show: () => shown.resolve() };
}

it('all waiting callers are notified of the end, by one watch, which ends with the last of them', async () => {
  const { clock, put, of, watches, show } = world();
  put(run('a'));
  put(run('b'));
  show();
  const [one, two, other] = [of('a'), of('a'), of('b', 1000)];
  await clock.settle();
  assert.equal(watches.size, 1);
  put(run('a', 'Succeeded'));
  await clock.settle();
  assert.deepEqual(
    [one, two, other],
    [{ over: true, phase: 'Succeeded' }, { over: true, phase: 'Succeeded' }, {}],
  );
  await clock.advance(1000);
  assert.deepEqual(other, { over: true, phase: undefined });
  assert.deepEqual([watches.size, clock.pending], [0, 0]);
});
it('a caller that has disconnected no longer waits', async () => {
  const { clock, put, of, watches, show } = world();
  put(run('a'));
  show();
  const gone = new AbortController();
  const one = of('a', 60_000, gone.signal);
  await clock.settle();
  assert.equal(getEventListeners(gone.signal, 'abort').length, 1);
  gone.abort();
  await clock.settle();
  assert.deepEqual([one.over, watches.size, clock.pending], [true, 0, 0]);
});
it('a run that the cache does not show yet does not count as deleted', async () => {
  const { clock, put, of, show } = world();
  const one = of('a');
  await clock.settle();
  assert.deepEqual(one, {});
  put(run('a'));
  show();
  await clock.settle();
  assert.deepEqual(one, {});
  put(run('a', 'Failed'));
  await clock.settle();
  assert.equal(one.phase, 'Failed');
});
it('an end during an expired watch is still reported', async () => {
  const { clock, put, of, show, expire, watches } = world();
  put(run('a'));
  show();
  const one = of('a');
  await clock.settle();
  put(run('a', 'Succeeded'), false);
  expire();
  await clock.settle();
  assert.equal(one.phase, 'Succeeded');
  assert.equal(watches.size, 0);
});
it('a deleted run has no end, and its waiting callers are notified at once', async () => {
  const { clock, put, of, show, remove, watches } = world();
  put(run('a'));
  show();
  const one = of('a');
  await clock.settle();
  remove('a');
  await clock.settle();
  assert.deepEqual(one, { over: true, phase: undefined });
  assert.deepEqual([watches.size, clock.pending], [0, 0]);
});
it('a run that ended before the wait is reported at once', async () => {
  const { clock, put, of, show, watches } = world();
  put(run('a', 'Failed'));
  show();
  const one = of('a');
  await clock.settle();
  assert.deepEqual([one.phase, watches.size, clock.pending], ['Failed', 0, 0]);
});
it('neither the end of another run nor a change of a running one ends a wait', async () => {
  const { clock, put, of, show } = world();
  put(run('a'));
  show();
  const one = of('a');
  await clock.settle();
  put(run('b', 'Succeeded'));
  put(run('a', 'Pending'));
  put(run('a', 'Running'));
  await clock.settle();
  assert.deepEqual(one, {});
  await clock.advance(59_999);
  assert.deepEqual(one, {});
  await clock.advance(1);
  assert.equal(one.over, true);
});
it('a finished wait leaves nothing with its caller', async () => {
  const { clock, put, of, show } = world();
  put(run('a'));
  show();
  const caller = new AbortController();
  of('a', 1000, caller.signal);
  await clock.advance(1000);
  assert.equal(getEventListeners(caller.signal, 'abort').length, 0);
});
it('if one of two waiting callers disconnects, the other is still notified', async () => {
  const { clock, put, of, show, watches } = world();
  put(run('a'));
  show();
  const gone = new AbortController();
  const [first, second, late] = [of('a', 60_000, gone.signal), of('a'), of('a', 1000)];
  await clock.settle();
  gone.abort();
  await clock.advance(1000);
  assert.deepEqual([first.over, second.over, late.over, watches.size], [true, undefined, true, 1]);
  const again = of('a');
  await clock.settle();
  put(run('a', 'Succeeded'));
  await clock.settle();
  assert.deepEqual([second.phase, again.phase, watches.size], ['Succeeded', 'Succeeded', 0]);
});
it('a wait after the last one starts a new watch from the current state of the cache', async () => {
  const { clock, put, of, show, watches, watched, expire } = world();
  put(run('a'));
  show();
  of('a', 1000);
  await clock.advance(1000);
  const next = of('a');
  await clock.settle();
  assert.equal(watches.size, 1);
  expire();
  put(run('a', 'Succeeded'));
  await clock.settle();
  assert.deepEqual([next.phase, watches.size], ['Succeeded', 0]);
  assert.deepEqual(watched, Array(3).fill(['workflowruns.minik8s.io', 1]));
});
