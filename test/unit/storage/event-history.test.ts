import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CacheEvent } from '../../../src/storage/cache.ts';
import {
  defaultHistoryLimits,
  EventHistory,
  type HistoryLimits,
} from '../../../src/storage/event-history.ts';
import { Fifo } from '../../../src/storage/fifo.ts';

/** Event of ten bytes. */
const event = (revision: number, key = '/r/a') =>
  ({ key, revision, frame: Buffer.alloc(10) }) as unknown as CacheEvent;
const wide: HistoryLimits = { minEvents: 0, maxEvents: 1000, maxAgeMs: 1e9, maxBytes: 1e9 };

function historyOf(
  limits: Partial<HistoryLimits>,
  ...events: readonly (readonly [revision: number, at: number])[]
) {
  const history = new EventHistory({ ...wide, ...limits });
  for (const [revision, at] of events) history.add(event(revision), at);
  return history;
}
const kept = (history: EventHistory) =>
  history.after(history.startOf('/'), '/').map(({ revision }) => revision);

describe('the history of events', () => {
  const events = [
    [1, 0],
    [2, 10],
    [3, 20],
    [4, 30],
  ] as const;
  for (const [what, limits, left] of [
    ['all events within the limits', {}, [1, 2, 3, 4]],
    ['the maximum number of events', { maxEvents: 3 }, [2, 3, 4]],
    ['the maximum number of bytes', { maxBytes: 30 }, [2, 3, 4]],
    ['one event of any size', { maxBytes: 5 }, [4]],
    ['events within the age', { maxAgeMs: 20 }, [2, 3, 4]],
    ['older events up to the minimum number', { maxAgeMs: 5, minEvents: 3 }, [2, 3, 4]],
  ] as const) {
    it(`keeps ${what}`, () => {
      const history = historyOf(limits, ...events);
      assert.deepEqual(kept(history), left);
      assert.equal(history.startOf('/'), 4 - left.length);
    });
  }

  describe('by default', () => {
    const sized = (revision: number, length: number) =>
      ({ key: '/r/a', revision, frame: { length } }) as unknown as CacheEvent;
    const filled = (count: number) => {
      const history = new EventHistory(defaultHistoryLimits);
      for (let revision = 1; revision <= count; revision++) history.add(sized(revision, 1), 0);
      return history;
    };

    it('keeps 1,000 events, and more of them for 75 s', () => {
      const old = filled(999);
      old.add(sized(1000, 1), 75_001);
      assert.equal(old.startOf('/'), 0);
      old.add(sized(1001, 1), 75_001);
      assert.equal(old.startOf('/'), 1);
      const young = filled(1000);
      young.add(sized(1001, 1), 75_000);
      assert.equal(young.startOf('/'), 0);
    });

    it('keeps at most 100,000 events', () => {
      const history = filled(100_000);
      assert.equal(history.startOf('/'), 0);
      history.add(sized(100_001, 1), 0);
      assert.equal(history.startOf('/'), 1);
    });

    it('keeps at most 128 MiB', () => {
      const history = new EventHistory(defaultHistoryLimits);
      for (const revision of [1, 2]) history.add(sized(revision, 1 << 26), 0);
      assert.equal(history.startOf('/'), 0);
      history.add(sized(3, 1), 0);
      assert.equal(history.startOf('/'), 1);
    });
  });

  it('returns the events after a revision whose keys have the prefix', () => {
    const history = new EventHistory(wide);
    for (const [revision, key] of [
      [2, '/r/a/1'],
      [4, '/r/b/1'],
      [6, '/r/a/2'],
      [8, '/r/a/3'],
    ] as const)
      history.add(event(revision, key), 0);
    const after = (revision: number, prefix: string) =>
      history.after(revision, prefix).map((one) => one.revision);
    assert.deepEqual(after(0, '/r/'), [2, 4, 6, 8]);
    assert.deepEqual(after(2, '/r/a/'), [6, 8]);
    assert.deepEqual(after(5, '/r/'), [6, 8]);
    assert.deepEqual(after(8, '/r/'), []);
    assert.deepEqual(after(0, '/r/c/'), []);
  });

  it('starts later only for the kind whose events were dropped', () => {
    const history = new EventHistory({ ...wide, maxEvents: 2 });
    history.restart(1);
    for (const [revision, key] of [
      [2, '/registry/pods/default/a'],
      [3, '/registry/leases.coordination.k8s.io/kube-system/a'],
      [4, '/registry/leases.coordination.k8s.io/kube-system/a'],
      [5, '/registry/leases.coordination.k8s.io/kube-system/a'],
    ] as const)
      history.add(event(revision, key), 0);
    const starts = () =>
      [
        '/registry/',
        '/registry/pods/',
        '/registry/pods/default/',
        '/registry/leases.coordination.k8s.io/kube-system/',
        '/registry/podtemplates/',
      ].map((prefix) => history.startOf(prefix));
    assert.deepEqual(starts(), [3, 2, 2, 3, 1]);
    history.restart(9);
    assert.deepEqual(starts(), [9, 9, 9, 9, 9]);
  });

  it('counts its bytes from zero after a restart', () => {
    const history = historyOf({ maxBytes: 30 }, [1, 0], [2, 0], [3, 0]);
    assert.equal(history.startOf('/'), 0);
    history.restart(7);
    assert.deepEqual([history.startOf('/'), kept(history)], [7, []]);
    for (const revision of [8, 9, 10]) history.add(event(revision), 0);
    assert.deepEqual([history.startOf('/'), kept(history)], [7, [8, 9, 10]]);
    history.add(event(11), 0);
    assert.deepEqual([history.startOf('/'), kept(history)], [8, [9, 10, 11]]);
  });
});

describe('a queue', () => {
  it('returns its items in order, with removals in between', () => {
    const queue = new Fifo<number>();
    const model: number[] = [];
    for (let step = 0; step < 500; step++) {
      if (step % 7 < 4) {
        queue.push(step);
        model.push(step);
      } else assert.equal(queue.shift(), model.shift());
      assert.equal(queue.length, model.length);
      assert.deepEqual([queue.at(0), queue.at(model.length - 1)], [model[0], model.at(-1)]);
    }
    while (model.length > 0) assert.equal(queue.shift(), model.shift());
    assert.deepEqual([queue.shift(), queue.length, queue.at(0)], [undefined, 0, undefined]);
  });
});
