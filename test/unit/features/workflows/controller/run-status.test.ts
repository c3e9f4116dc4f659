/** The status of a run as the API shows it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxValues } from '../../../../../src/apimachinery/value-limit.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import {
  excessOfRun,
  executionOf,
  stateOf,
  statusOf,
} from '../../../../../src/features/workflows/controller/run-status-plan.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { at, meta, start } from '../../../controllers/objects.ts';

const run = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta('r', { namespace: 'shop' }) },
  spec: { workflow: 'w', input: { order: 7 } },
} as unknown as WorkflowRun;
const base = { format: 1, execution: {}, input: { order: 7 }, started: start, events: 3, stopping: [] };
const branch = (state: string, visit: number, wait: object = { for: 'task', resource: 'function:f' }) => ({
  ...{ state, input: {}, entered: start, visit, attempt: 0 },
  wait,
});
const parallel = (branches: readonly object[]) =>
  branch('Both', 0, {
    ...{
      for: 'children',
      total: branches.length,
      started: branches.length,
      limit: 40,
      outputs: {},
      failed: 0,
    },
    running: { ...branches },
  });
const running = (root: object) => ({ ...base, status: 'Running', root }) as unknown as RunState;
const ended = (over: object) => ({ ...base, ...over }) as unknown as RunState;
const facts = { definition: 'w-1', history: [], calls: [], now: start + 5000 };
const begun = {
  type: 'Started',
  status: 'True',
  reason: 'Started',
  message: 'the run has begun',
  lastTransitionTime: at(0),
};

describe('the status of the definition after its run', () => {
  it('is its name and that of its workflow, with the namespace in their ids', () => {
    assert.deepEqual(executionOf(run), {
      id: 'shop/r',
      name: 'r',
      workflow: { id: 'shop/w', name: 'w' },
    });
  });
});

describe('the status', () => {
  it('of a running run has its state, without the input, which is in the spec', () => {
    const state = running(branch('A', 0));
    const history = [{ id: 1, time: 'T', type: 'ExecutionStarted' }];
    const calls = [{ id: '0-0', instance: 'i', time: 'T' }];
    const { state: text = '', ...status } = statusOf(run, { ...facts, history, calls, state });
    assert.deepEqual(status, {
      ...{ phase: 'Running', startTime: at(0), definition: 'w-1', currentStates: ['A'], calls, history },
      ...{ historyCount: 3, conditions: [begun] },
    });
    assert.equal(JSON.parse(text).input, undefined);
    assert.deepEqual(stateOf({ ...run, status: { ...status, state: text } } as WorkflowRun), state);
  });
  it('of a run that has not started has no state', () => {
    assert.equal(stateOf(run), undefined);
    assert.equal(stateOf({ ...run, status: {} } as WorkflowRun), undefined);
  });
  it('has no list of calls if none is awaited', () => {
    const status = statusOf(run, { ...facts, state: running(branch('A', 0)) });
    assert.equal('calls' in status, false);
  });
  it('has no call of a task that is to be stopped', () => {
    const state = { ...running(branch('A', 0)), stopping: ['9-0'] };
    const calls = ['0-0', '9-0'].map((id) => ({ id, instance: 'i', time: 'T' }));
    assert.deepEqual(
      statusOf(run, { ...facts, state, calls }).calls?.map(({ id }) => id),
      ['0-0'],
    );
  });
  it('of a succeeded run has its output, or null', () => {
    const of = (over: object) => statusOf(run, { ...facts, state: ended({ status: 'Succeeded', ...over }) });
    assert.deepEqual(of({ output: [1] }), {
      ...{ phase: 'Succeeded', startTime: at(0), completionTime: at(5), output: [1], definition: 'w-1' },
      ...{ history: [], historyCount: 3, conditions: [begun] },
    });
    assert.equal(of({}).output, null);
  });
  it('of another ended run has error and cause, or empty texts', () => {
    for (const phase of ['Failed', 'TimedOut', 'Aborted']) {
      const failure = { error: 'E', cause: 'why' };
      const status = statusOf(run, { ...facts, state: ended({ status: phase, failure }) });
      assert.deepEqual([status.phase, status.error, status.cause], [phase, 'E', 'why']);
      assert.equal('output' in status, false);
      const bare = statusOf(run, { ...facts, state: ended({ status: phase }) });
      assert.deepEqual([bare.error, bare.cause], ['', '']);
    }
  });
  it('of an output with too many values is a failure with their number', () => {
    const most = maxValues - 10_000;
    const of = (length: number) =>
      statusOf(run, { ...facts, state: ended({ status: 'Succeeded', output: Array(length).fill(0) }) });
    const { phase, output } = of(most - 1);
    assert.deepEqual([phase, (output as unknown[]).length], ['Succeeded', most - 1]);
    const excess = of(most);
    assert.deepEqual(
      [excess.phase, excess.output, excess.error, excess.cause],
      [
        ...['Failed', undefined, 'States.DataLimitExceeded'],
        `the output of the run has ${most + 1} values, and may have ${most}`,
      ],
    );
  });
  it('contains at most twenty innermost states, without duplicates', () => {
    const names = (states: readonly string[]) =>
      statusOf(run, { ...facts, state: running(parallel(states.map((name, i) => branch(name, i)))) })
        .currentStates;
    assert.deepEqual(names(['A', 'B', 'A']), ['A', 'B']);
    const many = Array.from({ length: 30 }, (_, i) => `S${i}`);
    assert.deepEqual(names(many), many.slice(0, 20));
  });
});

describe('a run with its status', () => {
  it('may have 1,300,000 bytes of JSON, counted in UTF-8', () => {
    const excess = (text: string) =>
      excessOfRun(run, { ...statusOf(run, { ...facts, state: ended({ status: 'Failed' }) }), cause: text });
    const around = Buffer.byteLength(
      JSON.stringify({ ...run, status: statusOf(run, { ...facts, state: ended({ status: 'Failed' }) }) }),
    );
    const left = 1_300_000 - around;
    assert.equal(excess('x'.repeat(left)), undefined);
    assert.equal(excess('x'.repeat(left + 1)), 'the run has 1300001 bytes of JSON, and may have 1300000');
    assert.notEqual(excess('ü'.repeat(Math.ceil(left / 2) + 1)), undefined);
  });
});
