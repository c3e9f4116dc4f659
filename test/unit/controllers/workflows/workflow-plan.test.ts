import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ControllerRevision } from '../../../../src/api/apps/v1/controller-revision.ts';
import type { Workflow } from '../../../../src/api/minik8s/v1/workflow.ts';
import type { WorkflowRun } from '../../../../src/api/minik8s/v1/workflow-run.ts';
import { planWorkflow } from '../../../../src/controllers/workflows/workflow-plan.ts';

const now = Date.UTC(2026, 0, 1, 12);
const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();
const workflow = (spec: Partial<Workflow['spec']>) =>
  ({ metadata: { name: 'w', generation: 3 }, spec: { runsHistoryLimit: 100, ...spec } }) as Workflow;
const ended = (name: string, secondsAgo: number, more: object = {}) =>
  ({
    metadata: { name, namespace: 'n', creationTimestamp: at(secondsAgo + 1) },
    spec: { workflow: 'w' },
    status: { phase: 'Succeeded', completionTime: at(secondsAgo), definition: 'w-old' },
    ...more,
  }) as WorkflowRun;
const running = { ...ended('running', 5), status: { phase: 'Running', definition: 'w-used' } } as WorkflowRun;
const revision = (name: string, secondsAgo: number) =>
  ({ metadata: { name, creationTimestamp: at(secondsAgo) } }) as ControllerRevision;
const plan = (of: Workflow, runs: WorkflowRun[], revisions: ControllerRevision[] = []) =>
  planWorkflow(of, { runs, revisions, current: 'w-now', now, timestamp: at(0) });
const names = (objects: readonly { metadata: { name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name);

it('the oldest runs go beyond the limit; those that go on never do', () => {
  const { remove, again } = plan(workflow({ runsHistoryLimit: 1 }), [
    ended('a', 30),
    running,
    ended('b', 10),
  ]);
  assert.deepEqual([names(remove), again], [['a'], undefined]);
  assert.deepEqual(names(plan(workflow({ runsHistoryLimit: 0 }), [ended('a', 1), running]).remove), ['a']);
});

it('runs go when their time is over, and the next one is waited for', () => {
  const of = workflow({ ttlSecondsAfterFinished: 20 });
  const { remove, again } = plan(of, [ended('a', 20), ended('b', 15), ended('c', 5)]);
  assert.deepEqual([names(remove), again], [['a'], 5000]);
});

it('one whose end is not stored above, or whose tasks are not gone, stays', () => {
  const of = workflow({ runsHistoryLimit: 0 });
  const parent = { namespace: 'n', name: 'p', uid: 'u', task: '0-0', depth: 1 };
  const stopping = { phase: 'Aborted', completionTime: at(9), state: '{}' };
  assert.deepEqual(
    plan(of, [
      ended('task', 9, { spec: { workflow: 'w', parent } }),
      ended('stopping', 9, { status: stopping }),
      ended('held', 9, { metadata: { name: 'held', finalizers: ['minik8s.io/workflow-task'] } }),
    ]).remove,
    [],
  );
  const elsewhere = { ...parent, namespace: 'other' };
  assert.equal(plan(of, [ended('task', 9, { spec: { workflow: 'w', parent: elsewhere } })]).remove.length, 1);
});

it('definitions go that no run has, some time after they were made', () => {
  const runs = [running, ended('a', 1)];
  const all = ['w-now', 'w-used', 'w-old', 'w-gone'].map((name) => revision(name, 601));
  assert.deepEqual(names(plan(workflow({}), runs, all).forget), ['w-gone']);
  const { forget, again } = plan(workflow({}), runs, [revision('w-new', 590)]);
  assert.deepEqual([forget, again], [[], 10_000]);
});

it('the status counts what goes on', () => {
  const { status } = plan(workflow({}), [running, ended('a', 1)]);
  assert.deepEqual([status.active, status.definition, status.observedGeneration], [1, 'w-now', 3]);
  assert.equal(status.lastRunTime, at(2));
});
