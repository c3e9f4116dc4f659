import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../../src/apimachinery/resource-definition.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowHistoryResource } from '../../../../../src/features/workflows/api/workflow-history.ts';
import { historyName } from '../../../../../src/features/workflows/api/workflow-history-entry.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { created, createProblems, merge, type Raw, updated } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../../api/column-cells.ts';

const object = (kind: string, name: string, spec: Raw, more: Raw = {}) => ({
  apiVersion: 'minik8s.io/v1',
  kind,
  metadata: { name, namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  ...more,
});
const definition = { StartAt: 'A', States: { A: { Type: 'Pass', End: true } } };
const workflow = (spec: Raw = {}, name = 'order') => object('Workflow', name, { definition, ...spec });
const run = (spec: Raw = {}, name = 'order-1') => object('WorkflowRun', name, { workflow: 'order', ...spec });
const updateProblems = <T extends KubeObject>(kind: ResourceDefinition<T>, before: Raw, after: Raw) =>
  updated(kind, created(kind, before), after).problems;

it('a Workflow gets its defaults', () => {
  const { spec } = created(workflowResource, workflow());
  assert.deepEqual(spec, { definition, public: false, serviceAccountName: 'default', runsHistoryLimit: 100 });
});

describe('rejected Workflows', () => {
  const refused: Readonly<Record<string, readonly [Raw, RegExp]>> = {
    'no definition': [object('Workflow', 'a', {}), /^spec\.definition: Required value/],
    'a text': [workflow({ definition: 'x' }), /^spec\.definition: Invalid value: "x": must be an object/],
    'a state that does not exist': [
      workflow({ definition: { StartAt: 'B', States: definition.States } }),
      /^spec\.definition\.StartAt: Invalid value: "B": there is no state/,
    ],
    'a long name': [workflow({}, 'a'.repeat(53)), /^metadata\.name: .* no more than 52 characters/],
    'a name with a dot': [workflow({}, 'a.b'), /^metadata\.name: Invalid value: "a\.b"/],
    'a service account': [workflow({ serviceAccountName: 'A_b' }), /^spec\.serviceAccountName: Invalid/],
    'a negative number of runs': [
      workflow({ runsHistoryLimit: -1 }),
      /^spec\.runsHistoryLimit: .*between 0 and/,
    ],
    'too many runs': [workflow({ runsHistoryLimit: 10_001 }), /^spec\.runsHistoryLimit: .*between 0 and/],
    'a negative time': [workflow({ ttlSecondsAfterFinished: -1 }), /^spec\.ttlSecondsAfterFinished: Invalid/],
  };
  for (const [name, [raw, expected]] of Object.entries(refused)) {
    it(name, () => assert.match(createProblems(workflowResource, raw).join('\n'), expected));
  }
  it('do not include objects at the limits', () => {
    const raw = workflow({ runsHistoryLimit: 10_000, ttlSecondsAfterFinished: 0 }, 'a'.repeat(52));
    assert.deepEqual(createProblems(workflowResource, raw), []);
  });
});

describe('rejected WorkflowRuns', () => {
  const parent = { namespace: 'default', name: 'a', uid: 'u', task: '0-0', depth: 1 };
  const refused: Readonly<Record<string, readonly [Raw, RegExp]>> = {
    'no workflow': [object('WorkflowRun', 'a', {}), /^spec\.workflow: Required value/],
    'a name with a dot': [run({}, 'a.b'), /^metadata\.name: Invalid value: "a\.b"/],
    'a large input': [
      run({ input: 'a'.repeat(256 * 1024) }),
      /^spec\.input: Forbidden: the input has 262146/,
    ],
    'a long error': [run({ stop: { error: 'a'.repeat(257) } }), /^spec\.stop\.error: Too long/],
    'a long cause': [run({ stop: { cause: 'a'.repeat(32_769) } }), /^spec\.stop\.cause: Too long/],
    'too deep': [run({ parent: { ...parent, depth: 11 } }), /^spec\.parent\.depth: Invalid value: 11/],
    'not deep': [run({ parent: { ...parent, depth: 0 } }), /^spec\.parent\.depth: Invalid value: 0/],
  };
  for (const [name, [raw, expected]] of Object.entries(refused)) {
    it(name, () => assert.match(createProblems(workflowRunResource, raw).join('\n'), expected));
  }
  it('do not include any type of input', () => {
    for (const input of [null, 1, 'a', [1], { a: null }, 'a'.repeat(256 * 1024 - 2)])
      assert.deepEqual(createProblems(workflowRunResource, run({ input, parent })), []);
  });
});

describe('a WorkflowRun that is changed', () => {
  const problems = (before: Raw, after: Raw) => updateProblems(workflowRunResource, run(before), run(after));
  it('may be stopped once', () => {
    assert.deepEqual(problems({}, { stop: {} }), []);
    assert.match(problems({ stop: {} }, {}).join(), /^spec\.stop: Forbidden: a stop that is set/);
    assert.match(problems({ stop: {} }, { stop: { error: 'A' } }).join(), /^spec\.stop: Forbidden/);
  });
  it('keeps all other fields', () => {
    assert.match(
      problems({ input: 1 }, { input: 2 }).join(),
      /^spec\.input: Forbidden: is immutable: only spec.stop of a run/,
    );
    assert.match(problems({ input: 1 }, {}).join(), /^spec\.input: Forbidden/);
    assert.match(problems({}, { workflow: 'other' }).join(), /^spec\.workflow: Forbidden/);
  });
});

it('a WorkflowHistory cannot be changed', () => {
  const entries = [{ id: 1, time: '2026-01-01T00:00:00Z', type: 'ExecutionStarted' }];
  const before = object('WorkflowHistory', 'order-1-0001', { run: 'order-1', entries });
  const after = object('WorkflowHistory', 'order-1-0001', { run: 'order-1', entries: [] });
  assert.deepEqual(updateProblems(workflowHistoryResource, before, before), []);
  assert.match(updateProblems(workflowHistoryResource, before, after).join(), /^spec: Forbidden/);
});

it('names of WorkflowHistory objects contain the name of the run and a number', () => {
  assert.deepEqual(
    [historyName('a', 0), historyName('a', 49), historyName('a', 50), historyName('a', 24_999)],
    ['a-0001', 'a-0001', 'a-0002', 'a-0500'],
  );
});

testCells(workflowResource, 'before it was looked at', workflow(), {
  States: 1,
  Active: 0,
  Definition: '<none>',
});
testCells(
  workflowResource,
  'with runs',
  merge(workflow(), { status: { active: 2, definition: 'order-1a' } }) as Raw,
  {
    Active: 2,
    Definition: 'order-1a',
  },
);
testCells(workflowRunResource, 'before it has begun', run(), {
  Workflow: 'order',
  Phase: 'Pending',
  State: '<none>',
  Error: '<none>',
});
testCells(
  workflowRunResource,
  'on its way',
  merge(run(), { status: { phase: 'Running', currentStates: ['Pay', 'Pack'], error: 'Late' } }) as Raw,
  { Phase: 'Running', State: 'Pay,Pack', Error: 'Late' },
);
testCells(
  workflowHistoryResource,
  'a part',
  object('WorkflowHistory', 'order-1-0001', { run: 'order-1', entries: [{ id: 1, time: 'T', type: 'A' }] }),
  { Run: 'order-1', Entries: 1 },
);
