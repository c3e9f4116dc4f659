/** An error of any length does not fill the run with its name or its cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCause, maxErrorName } from '../../../src/states-language/limits.ts';
import { WorkflowRun } from '../../fixtures/workflow-run.ts';

const long = 'x'.repeat(250_000);

test('a task whose error has a name of any length is caught, and its history is short', async () => {
  const Retry = [{ ErrorEquals: ['States.ALL'], MaxAttempts: 5 }];
  const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }];
  const run = await WorkflowRun.start({
    StartAt: 'A',
    States: {
      A: { Type: 'Task', Resource: 'function:f', Retry, Catch, End: true },
      Caught: { Type: 'Pass', End: true },
    },
  });
  await run.finish(() => ({ error: long, cause: long }));
  assert.equal(run.state.status, 'Succeeded');
  assert.deepEqual(run.state.output, {
    Error: long.slice(0, maxErrorName),
    Cause: long.slice(0, maxCause),
  });
  assert.ok(JSON.stringify(run.history.map(({ detail }) => detail)).length < 30_000);
});

test('a run that fails with an error of any length keeps its beginning', async () => {
  const Fail = { Type: 'Fail', ErrorPath: '$.long', CausePath: '$.long' };
  const run = await WorkflowRun.start({ StartAt: 'A', States: { A: Fail } }, { long });
  assert.deepEqual(run.state.failure, {
    error: long.slice(0, maxErrorName),
    cause: long.slice(0, maxCause),
  });
});
