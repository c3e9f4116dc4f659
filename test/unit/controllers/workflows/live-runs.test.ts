/** The newest that is known of a run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkflowRun } from '../../../../src/api/minik8s/v1/workflow-run.ts';
import { LiveRuns } from '../../../../src/controllers/workflows/live-runs.ts';
import { meta } from '../objects.ts';

const key = 'default/r';
const run = (uid: string, resourceVersion: string) =>
  ({ metadata: meta('r', { uid, resourceVersion }), spec: { workflow: 'w' } }) as unknown as WorkflowRun;

describe('the newest of a run', () => {
  const seen: { run?: WorkflowRun } = {};
  const world = () => {
    delete seen.run;
    return new LiveRuns({ get: () => seen.run });
  };
  it('is what was written until the cache shows more, by numbers', () => {
    const live = world();
    live.set(key, run('a', '100'));
    seen.run = run('a', '99');
    assert.equal(live.newest(key).run?.metadata.resourceVersion, '100');
    seen.run = run('a', '101');
    assert.equal(live.newest(key).run, seen.run);
  });
  it('is another run once that has the name, and tells which one is gone', () => {
    const live = world();
    live.set(key, run('a', '100'));
    seen.run = run('b', '50');
    assert.deepEqual(live.newest(key), { run: seen.run, gone: 'a' });
    delete seen.run;
    assert.deepEqual(live.newest(key), { run: undefined, gone: 'a' });
  });
});
