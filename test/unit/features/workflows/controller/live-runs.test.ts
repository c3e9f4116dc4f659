/** Newest known state of a run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { LiveRuns } from '../../../../../src/features/workflows/controller/live-runs.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { meta } from '../../../controllers/objects.ts';

const key = 'default/r';
const run = (uid: string, resourceVersion: string) =>
  ({ metadata: meta('r', { uid, resourceVersion }), spec: { workflow: 'w' } }) as unknown as WorkflowRun;

describe('the newest state of a run', () => {
  const seen: { run?: WorkflowRun } = {};
  const world = () => {
    delete seen.run;
    return new LiveRuns({ get: () => seen.run });
  };
  it('is the last written one until the cache shows a newer one, by numbers', () => {
    const live = world();
    live.set(key, run('a', '100'));
    seen.run = run('a', '99');
    assert.equal(live.newest(key).run?.metadata.resourceVersion, '100');
    seen.run = run('a', '101');
    assert.equal(live.newest(key).run, seen.run);
  });
  it('is the new run once it has the name, and the replaced run is reported', () => {
    const live = world();
    live.set(key, run('a', '100'));
    seen.run = run('b', '50');
    assert.deepEqual(live.newest(key), { run: seen.run, gone: 'a' });
    delete seen.run;
    assert.deepEqual(live.newest(key), { run: undefined, gone: 'a' });
  });
});

describe('the state of a run in memory', () => {
  const state = { format: 1, status: 'Running', input: {} } as unknown as RunState;
  const written = (resourceVersion: string, phase: object = {}) =>
    ({ ...run('a', resourceVersion), status: { state: '{"events":7}', ...phase } }) as WorkflowRun;
  const world = () => {
    const seen: { run?: WorkflowRun } = {};
    return { seen, live: new LiveRuns({ get: (wanted) => (wanted === key ? seen.run : undefined) }) };
  };

  it('is the cached run if nothing was written', () => {
    const { live, seen } = world();
    assert.deepEqual(live.newest(key), { run: undefined });
    seen.run = run('a', '1');
    assert.deepEqual(live.newest(key), { run: seen.run });
  });
  it('is the written state for the same version, and is parsed from the status for any other version', () => {
    const { live } = world();
    live.set(key, written('5'), state);
    assert.equal(live.stateOf(key, written('5')), state);
    assert.deepEqual(live.stateOf(key, written('6')), { events: 7, input: {} });
    live.set(key, written('6'));
    assert.deepEqual(live.stateOf(key, written('6')), { events: 7, input: {} });
    assert.equal(live.stateOf(key, run('a', '7')), undefined);
    assert.deepEqual(live.stateOf('default/other', written('5')), { events: 7, input: {} });
  });
  it('is returned by the uid of a known run, until the run is forgotten', () => {
    const { live, seen } = world();
    seen.run = run('a', '1');
    assert.deepEqual([live.keyOf('a'), live.runOf('a')], [undefined, undefined]);
    live.follow(key, 'a');
    live.follow('default/other', 'b');
    assert.deepEqual([live.keyOf('a'), live.runOf('a')], [key, seen.run]);
    live.set(key, run('a', '2'));
    assert.deepEqual(live.runOf('a'), run('a', '2'), 'as it was written');
    seen.run = run('c', '3');
    assert.equal(live.runOf('a'), undefined, 'another run has its name');
    delete seen.run;
    assert.deepEqual([live.keyOf('b'), live.runOf('b')], ['default/other', undefined]);
    live.forget(key, 'a');
    assert.deepEqual([live.keyOf('a'), live.newest(key)], [undefined, { run: undefined }]);
    assert.equal(live.keyOf('b'), 'default/other');
  });
  it('is kept after the end of the run until the cache shows that end, and no longer', () => {
    const { live, seen } = world();
    for (const [shown, kept] of [
      [run('a', '99'), run('a', '100')],
      [run('a', '100'), undefined],
      [run('a', '101'), undefined],
      [run('b', '99'), undefined],
      [undefined, undefined],
    ] as const) {
      live.follow(key, 'a');
      live.set(key, run('a', '98'));
      if (shown) seen.run = shown;
      else delete seen.run;
      live.leave(key, run('a', '100'));
      assert.deepEqual(live.newest(key), { run: kept ?? shown });
      assert.equal(live.keyOf('a'), undefined);
      delete seen.run;
      assert.equal(live.newest(key).gone, kept && 'a', 'nothing else is kept');
      live.clear();
    }
  });
  it('is forgotten at the end of the term', () => {
    const { live } = world();
    live.set(key, run('a', '1'));
    live.follow(key, 'a');
    live.clear();
    assert.deepEqual([live.keyOf('a'), live.newest(key)], [undefined, { run: undefined }]);
    live.follow(key, 'a');
    assert.equal(live.runOf('a'), undefined);
  });
});
