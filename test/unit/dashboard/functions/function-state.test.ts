/** The state of a function. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  functionState,
  prettyJson,
} from '../../../../src/dashboard/app/pages/functions/plan/function-state.ts';
import { condition, object } from '../../why/why-objects.ts';

const stateOf = (ready: object | undefined, status: object = {}) =>
  functionState(object('Function', 'hello', { status: { ...status, conditions: ready ? [ready] : [] } }));

describe('the state of a function', () => {
  it('is idle without instances, starting with some, and running with ready ones', () => {
    const ready = condition('Ready', 'True', 'Callable');
    assert.deepEqual(
      [{}, { replicas: 2 }, { replicas: 2, readyReplicas: 1 }].map((status) => stateOf(ready, status).word),
      ['idle', 'starting', 'running'],
    );
    assert.equal(stateOf(ready).reason, '');
  });

  it('is being built until its first version can be called', () => {
    const starting = condition('Ready', 'False', 'Starting', 'the first instance is being built');
    assert.deepEqual([stateOf(starting).word, stateOf(starting).health], ['being built', 'waiting']);
    assert.equal(stateOf(undefined).word, 'being built');
  });

  it('has the reason if it cannot be called', () => {
    const failed = stateOf(condition('Ready', 'False', 'BuildFailed', 'no matching version of left-pad'));
    assert.deepEqual([failed.word, failed.health], ['cannot be called', 'bad']);
    assert.match(failed.reason, /left-pad/);
  });
});

describe('an answer', () => {
  it('is indented if it is JSON, and otherwise shown unchanged', () => {
    assert.equal(prettyJson('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
    assert.equal(prettyJson('hello'), 'hello');
  });
});
