/** Workflows as graphs, and the states of their runs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runStates } from '../../../../src/dashboard/app/pages/workflows/plan/run-states.ts';
import { workflowLayout } from '../../../../src/dashboard/app/pages/workflows/plan/workflow-layout.ts';
import type { Machine } from '../../../../src/states-language/definition/types.ts';

const task = (more: object) => ({ Type: 'Task', Resource: 'function:f', ...more });
const order = {
  StartAt: 'Check',
  States: {
    Check: task({ Next: 'Both', Catch: [{ ErrorEquals: ['Refused'], Next: 'Tell' }] }),
    Both: {
      Type: 'Parallel',
      Branches: [
        { StartAt: 'Charge', States: { Charge: task({ End: true }) } },
        { StartAt: 'Reserve', States: { Reserve: task({ Next: 'Pack' }), Pack: task({ End: true }) } },
      ],
      Next: 'Tell',
    },
    Tell: task({ End: true }),
  },
} as unknown as Machine;

describe('the graph of a workflow', () => {
  const { boxes, arrows, width, height } = workflowLayout(order);
  const box = (name: string) => {
    const found = boxes.find((one) => one.name === name);
    assert.ok(found, name);
    return found;
  };

  it('has a box for each state, including inner states, with the path of the state as its id', () => {
    assert.deepEqual(boxes.map(({ name }) => name).sort(), [
      'Both',
      'Charge',
      'Check',
      'Pack',
      'Reserve',
      'Tell',
    ]);
    assert.equal(box('Pack').id, '["Both","Pack"]');
    assert.deepEqual([box('Check').isStart, box('Tell').ends, box('Both').isFrame], [true, true, true]);
  });

  it('draws the branches of a Parallel within it, beside each other', () => {
    const frame = box('Both');
    for (const name of ['Charge', 'Reserve', 'Pack']) {
      const inner = box(name);
      assert.ok(inner.x >= frame.x && inner.x + inner.width <= frame.x + frame.width, name);
      assert.ok(inner.y >= frame.y && inner.y + inner.height <= frame.y + frame.height, name);
    }
    assert.ok(box('Charge').x + box('Charge').width < box('Reserve').x);
    assert.ok(box('Reserve').y + box('Reserve').height < box('Pack').y);
  });

  it('has arrows that lead down from state to state, with the errors of a Catch as labels', () => {
    assert.deepEqual(arrows.map(({ label }) => label).filter(Boolean), ['on Refused']);
    assert.ok(arrows.length >= 4);
    for (const { points } of arrows) assert.ok((points[0]?.[1] ?? 0) < (points.at(-1)?.[1] ?? 0));
  });

  it('lies within its size', () => {
    for (const { x, y, width: w, height: h } of boxes)
      assert.ok(x >= -1e-6 && y >= 0 && x + w <= width + 1e-6 && y + h <= height + 1e-6);
  });
});

describe('the states of a run', () => {
  let id = 0;
  const entry = (type: string, state: string, more: object = {}) => ({
    ...{ id: ++id, time: `2026-01-02T00:00:${String(id % 60).padStart(2, '0')}Z`, type, state, ...more },
  });

  it('are running once entered, and have succeeded once left', () => {
    const states = runStates(
      [
        entry('TaskStateEntered', 'Check', { input: '{"a":1}' }),
        entry('TaskStateExited', 'Check', { output: '{"b":2}' }),
        entry('ParallelStateEntered', 'Both'),
      ],
      'Running',
    );
    assert.deepEqual([states.get('Check')?.outcome, states.get('Both')?.outcome], ['succeeded', 'running']);
    assert.deepEqual([states.get('Check')?.input, states.get('Check')?.output], ['{"a":1}', '{"b":2}']);
    assert.equal((states.get('Check')?.endedMs ?? 0) - (states.get('Check')?.beganMs ?? 0), 1000);
    assert.equal(states.get('Tell'), undefined);
  });

  it('of a Map have succeeded when every item has left them', () => {
    const entered = [1, 2, 3].map(() => entry('TaskStateEntered', 'Reserve'));
    const two = [1, 2].map(() => entry('TaskStateExited', 'Reserve'));
    assert.equal(runStates([...entered, ...two], 'Running').get('Reserve')?.outcome, 'running');
    const all = runStates([...entered, ...two, entry('TaskStateExited', 'Reserve')], 'Running').get(
      'Reserve',
    );
    assert.deepEqual([all?.outcome, all?.entered, all?.left], ['succeeded', 3, 3]);
  });

  it('have the error of a failure, the mark of a Catch and the number of retries', () => {
    const states = runStates(
      [
        entry('TaskStateEntered', 'Charge'),
        entry('TaskFailed', 'Charge', { detail: { error: 'BankBusy', cause: 'try later' } }),
        entry('RetryScheduled', 'Charge'),
        entry('TaskFailed', 'Charge', { detail: { error: 'BankBusy', cause: 'no' } }),
        entry('ErrorCaught', 'Charge'),
        entry('TaskStateExited', 'Charge'),
        entry('TaskStateEntered', 'Tell'),
        entry('TaskFailed', 'Tell', { detail: { error: 'Gone' } }),
      ],
      'Failed',
    );
    const charge = states.get('Charge');
    assert.deepEqual([charge?.outcome, charge?.retries, charge?.failure], ['caught', 1, 'BankBusy: no']);
    assert.deepEqual([states.get('Tell')?.outcome, states.get('Tell')?.failure], ['failed', 'Gone']);
  });
});
