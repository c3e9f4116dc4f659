/** Task states: their fields, timeouts and heartbeats, and tasks that are abandoned or stopped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/states-language/json.ts';
import type { RunEvent } from '../../../src/states-language/run/advance.ts';
import { alone, errorOf, outputOf, started, WorkflowRun } from '../../fixtures/workflow-run.ts';
import { answer, input, result, task, wait } from './states-world.ts';

const tasks: [name: string, state: object, output: Json][] = [
  ['no other field', {}, result],
  ['ResultSelector', { ResultSelector: { 'y.$': '$.deep.x[1]', z: 0 } }, { y: 5, z: 0 }],
  ['ResultPath', { ResultPath: '$.res' }, { ...input, res: result }],
  ['ResultPath null', { ResultPath: null }, input],
  [
    'ResultSelector, ResultPath and OutputPath',
    { ResultSelector: { 'y.$': '$.r' }, ResultPath: '$.res', OutputPath: '$.res.y' },
    1,
  ],
  [
    'InputPath and ResultPath into the whole input',
    { InputPath: '$.b', ResultPath: '$.res' },
    { ...input, res: result },
  ],
];

for (const [name, state, output] of tasks)
  test(`a Task with ${name} gives ${JSON.stringify(output)}`, async () =>
    assert.deepEqual(await outputOf({ ...task, ...state }, input, answer), output));

test('a Task is started with its evaluated fields, and has all of them in the state', async () => {
  const run = await WorkflowRun.start(
    alone({
      ...task,
      Resource: 'workflow:other/w',
      InputPath: '$.b',
      Parameters: { 'x.$': '$.c', 'id.$': '$$.Task.Token' },
      TimeoutSeconds: 30,
      HeartbeatSecondsPath: '$.c[1]',
      Credentials: { 'role.$': '$.c[0]' },
      End: true,
    }),
    input,
  );
  assert.deepEqual(run.commands, [
    {
      type: 'startTask',
      id: '0-0',
      state: 'S',
      resource: { type: 'workflow', namespace: 'other', name: 'w' },
      input: { x: [1, 2, 3], id: '0-0' },
      timeoutSeconds: 30,
      heartbeatSeconds: 2,
      credentials: { role: 1 },
    },
    { type: 'setTimer', due: started + 2000 },
  ]);
});

test('a Task whose input is that of the state does not store it twice', async () => {
  const run = await WorkflowRun.start(alone({ ...task, End: true }), input);
  assert.equal(
    JSON.stringify(run.state).split('"text"').length - 1,
    2,
    'the input of the run, and of the state',
  );
  assert.deepEqual(
    run.tasks.map((one) => one.input),
    [input],
  );
  const empty = await WorkflowRun.start(alone({ ...task, Parameters: null, End: true }), input);
  assert.deepEqual(
    empty.tasks.map((one) => one.input),
    [null],
  );
});

test('a Task that takes too long fails with States.Timeout, and is cancelled', async () => {
  const run = await WorkflowRun.start(alone({ ...task, TimeoutSecondsPath: '$.s', End: true }), { s: 5 });
  run.now += 4999;
  await run.send({ type: 'Time' });
  assert.equal(run.state.status, 'Running');
  run.now += 1;
  await run.send({ type: 'Time' });
  assert.equal(run.error, 'States.Timeout');
  assert.deepEqual(run.cancelled, ['0-0']);
  await run.send({ type: 'TaskStopped', id: '0-0' });
  assert.deepEqual(run.state.stopping, []);
  assert.deepEqual(
    run.history.map(({ type }) => type),
    [...['ExecutionStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskTimedOut', 'ExecutionFailed']],
  );
});

test('heartbeats keep a Task running up to its timeout; without one it fails with States.HeartbeatTimeout', async () => {
  const definition = alone({ ...task, HeartbeatSeconds: 2, TimeoutSeconds: 5, End: true });
  const run = await WorkflowRun.start(definition);
  for (const at of [1999, 3998, 4999]) {
    run.now = started + at;
    await run.send({ type: 'TaskHeartbeat', id: '0-0' });
    assert.equal(run.state.status, 'Running');
  }
  assert.equal(run.due, started + 5000);
  await run.passTime();
  assert.equal(run.error, 'States.Timeout');
  const silent = await WorkflowRun.start(definition);
  await silent.passTime();
  assert.equal(silent.error, 'States.HeartbeatTimeout');
  assert.equal(silent.now, started + 2000);
});

test('a Task with a heartbeat and no timeout gets a timeout of sixty seconds, or of a second above the heartbeat', async () => {
  const run = await WorkflowRun.start(alone({ ...task, HeartbeatSeconds: 2, End: true }));
  assert.deepEqual(
    run.tasks.map(({ timeoutSeconds }) => timeoutSeconds),
    [60],
  );
  const slow = await WorkflowRun.start(alone({ ...task, HeartbeatSeconds: 90, End: true }));
  assert.deepEqual(
    slow.tasks.map(({ timeoutSeconds }) => timeoutSeconds),
    [91],
  );
  const free = await WorkflowRun.start(alone({ ...task, End: true }));
  assert.equal(free.due, undefined);
  await free.send({ type: 'TaskHeartbeat', id: '0-0' });
  assert.equal(free.due, undefined);
});

test('TaskTimedOut and TaskStopped end a task without a cancellation', async () => {
  const late = await WorkflowRun.start(alone({ ...task, End: true }));
  await late.send({ type: 'TaskTimedOut', id: '0-0' });
  assert.equal(late.error, 'States.Timeout');
  const stopped = await WorkflowRun.start(alone({ ...task, End: true }));
  await stopped.send({ type: 'TaskStopped', id: '0-0' });
  assert.equal(stopped.error, 'States.TaskFailed');
});

test('a Task whose output is too large fails', async () => {
  const error = await errorOf(task, {}, () => ({ output: 'x'.repeat(256 * 1024) }));
  assert.equal(error, 'States.DataLimitExceeded');
});

for (const [state, given] of [
  [{ TimeoutSecondsPath: '$.s' }, { s: 0 }],
  [{ HeartbeatSecondsPath: '$.s' }, { s: '1' }],
] as [object, Json][])
  test(`a Task with ${JSON.stringify(state)} fails for the input ${JSON.stringify(given)}`, async () =>
    assert.equal(await errorOf({ ...task, ...state }, given), 'States.Runtime'));

test('an event about an abandoned task changes nothing', async () => {
  const run = await WorkflowRun.start(alone({ ...task, End: true }));
  const before = run.state;
  for (const type of ['TaskSucceeded', 'TaskHeartbeat', 'TaskTimedOut', 'TaskStopped'] as const)
    await run.send({ type, id: '9-9', output: 1 } as RunEvent);
  await run.send({ type: 'Time' });
  await run.send({ type: 'Continue' });
  assert.deepEqual(run.state, before);
  await run.send({ type: 'TaskSucceeded', id: '0-0', output: 1 });
  const ended = run.state;
  await run.send({ type: 'TaskSucceeded', id: '0-0', output: 2 });
  await run.send({ type: 'Stop' });
  assert.deepEqual(run.state, ended);
  assert.equal(run.output, 1);
});

test('a run that is stopped cancels its tasks', async () => {
  const run = await WorkflowRun.start(alone({ ...task, End: true }));
  await run.send({ type: 'Stop', error: 'Mine', cause: 'enough' });
  assert.equal(run.state.status, 'Aborted');
  assert.deepEqual(run.commands.slice(1), [
    { type: 'cancelTask', id: '0-0' },
    { type: 'failed', status: 'Aborted', error: 'Mine', cause: 'enough' },
  ]);
  const plain = await WorkflowRun.start(wait({ Seconds: 5 }));
  await plain.send({ type: 'Stop' });
  assert.deepEqual(plain.state.failure, { error: '', cause: '' });
  assert.equal(plain.due, undefined);
});

test('the TimeoutSeconds of the workflow end the run', async () => {
  const run = await WorkflowRun.start({ ...alone({ ...task, End: true }), TimeoutSeconds: 10 });
  assert.equal(run.due, started + 10_000);
  await run.passTime();
  assert.equal(run.state.status, 'TimedOut');
  assert.equal(run.state.failure?.error, 'States.Timeout');
  assert.deepEqual(run.cancelled, ['0-0']);
  assert.equal(run.history.at(-1)?.type, 'ExecutionTimedOut');
});
