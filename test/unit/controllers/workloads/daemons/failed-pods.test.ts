/** Time that a DaemonSet keeps a failed pod. */
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { FailedPods } from '../../../../../src/controllers/workloads/daemons/failed-pods.ts';
import { daemonSet } from './daemon-objects.ts';

const minute = 60_000;
const set = daemonSet();
let failed: FailedPods;
beforeEach(() => {
  failed = new FailedPods();
});

it('the delay doubles with each failed pod, from a second to fifteen minutes', () => {
  const waits = Array.from({ length: 12 }, () => {
    failed.replaced(set, 'n1', 0);
    return failed.waitFor(set, 'n1', 0) / 1000;
  });
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  assert.equal(failed.waitFor(set, 'n1', 10 * minute), 5 * minute);
  assert.equal(failed.waitFor(set, 'n1', 16 * minute), 0);
});

it('the backoff is separate for each node, and ends with another spec, another set of the name, or after half an hour', () => {
  const twice = (now: number) => {
    failed.replaced(set, 'n1', now);
    failed.replaced(set, 'n1', now);
  };
  twice(0);
  assert.deepEqual([failed.waitFor(set, 'n1', 0), failed.waitFor(set, 'n2', 0)], [2_000, 0]);
  failed.replaced(set, 'n1', 30 * minute);
  assert.equal(failed.waitFor(set, 'n1', 30 * minute), 4_000);
  failed.replaced(set, 'n1', 60 * minute + 1);
  assert.equal(failed.waitFor(set, 'n1', 60 * minute + 1), 1_000);
  twice(0);
  for (const other of [{ generation: 2 }, { uid: 'another' }]) {
    const changed = { ...set, metadata: { ...set.metadata, ...other } };
    assert.equal(failed.waitFor(changed, 'n1', 0), 0);
  }
  twice(0);
  failed.forget('default/web');
  assert.equal(failed.waitFor(set, 'n1', 0), 0);
});
