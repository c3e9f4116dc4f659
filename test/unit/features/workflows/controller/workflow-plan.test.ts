import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ControllerRevision } from '../../../../../src/api/apps/v1/controller-revision.ts';
import type { Workflow } from '../../../../../src/features/workflows/api/workflow.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { planWorkflow } from '../../../../../src/features/workflows/controller/workflow-plan.ts';

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

it('the oldest runs beyond the limit are deleted, but never running ones', () => {
  const { remove, again } = plan(workflow({ runsHistoryLimit: 1 }), [
    ended('a', 30),
    running,
    ended('b', 10),
  ]);
  assert.deepEqual([names(remove), again], [['a'], undefined]);
  assert.deepEqual(names(plan(workflow({ runsHistoryLimit: 0 }), [ended('a', 1), running]).remove), ['a']);
});

it('runs are deleted when their time has passed, and the time of the next run is awaited', () => {
  const of = workflow({ ttlSecondsAfterFinished: 20 });
  const { remove, again } = plan(of, [ended('a', 20), ended('b', 15), ended('c', 5)]);
  assert.deepEqual([names(remove), again], [['a'], 5000]);
});

it('a run is kept while its end is not stored in its parent run, or while its tasks exist', () => {
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

it('definitions without a run are deleted, some time after their creation', () => {
  const runs = [running, ended('a', 1)];
  const all = ['w-now', 'w-used', 'w-old', 'w-gone'].map((name) => revision(name, 601));
  assert.deepEqual(names(plan(workflow({}), runs, all).forget), ['w-gone']);
  const { forget, again } = plan(workflow({}), runs, [revision('w-new', 590)]);
  assert.deepEqual([forget, again], [[], 10_000]);
});

it('the status counts running runs', () => {
  const { status } = plan(workflow({}), [running, ended('a', 1)]);
  assert.deepEqual([status.active, status.definition, status.observedGeneration], [1, 'w-now', 3]);
  assert.equal(status.lastRunTime, at(2));
});

it('a run that is being deleted is not deleted again, and does not count against the limit', () => {
  const leaving = ended('leaving', 1, {
    metadata: { name: 'leaving', namespace: 'n', creationTimestamp: at(2), deletionTimestamp: at(1) },
  });
  assert.deepEqual(names(plan(workflow({ runsHistoryLimit: 1 }), [leaving, ended('a', 5)]).remove), []);
});

it('a run is deleted once, because of the number or its age, and only a remaining run determines the next check', () => {
  const of = workflow({ runsHistoryLimit: 2, ttlSecondsAfterFinished: 20 });
  const { remove, again } = plan(of, [ended('a', 30), ended('b', 25), ended('c', 5)]);
  assert.deepEqual([names(remove), again], [['a', 'b'], 15_000]);
  const few = workflow({ runsHistoryLimit: 1, ttlSecondsAfterFinished: 20 });
  const next = plan(few, [ended('a', 10), ended('b', 5)]);
  assert.deepEqual([names(next.remove), next.again], [['a'], 15_000]);
});

it('a run is kept until its time has passed, and is deleted exactly then', () => {
  const of = workflow({ ttlSecondsAfterFinished: 20 });
  const before = plan(of, [ended('a', 19.999)]);
  assert.deepEqual([names(before.remove), before.again], [[], 1]);
  const then = plan(of, [ended('a', 20)]);
  assert.deepEqual([names(then.remove), then.again], [['a'], undefined]);
});

it('only the earliest future time is awaited', () => {
  const of = workflow({ ttlSecondsAfterFinished: 20 });
  const revisions = (...ages: number[]) => ages.map((age) => revision(`r${age}`, age));
  assert.equal(plan(workflow({}), [], revisions(590, 500)).again, 10_000);
  assert.equal(plan(of, [ended('a', 15)], revisions(590)).again, 5000);
  assert.equal(plan(of, [ended('a', 5)], revisions(590)).again, 10_000);
  const { forget, again } = plan(workflow({}), [], revisions(600, 599.5, 700));
  assert.deepEqual([names(forget), again], [['r600', 'r700'], 500]);
  assert.equal(plan(workflow({}), [], revisions(600)).again, undefined);
});

it('the status has the newest run that ever existed, and the time since which the workflow is ready', () => {
  const runs = [ended('a', 30), ended('b', 10), ended('c', 20)];
  assert.equal(plan(workflow({}), runs).status.lastRunTime, at(11));
  const lastRunTime = at(500);
  const before = { type: 'Ready', status: 'True', lastTransitionTime: at(900) };
  const known = { ...workflow({}), status: { lastRunTime, conditions: [before] } } as unknown as Workflow;
  const { status } = plan(known, []);
  assert.deepEqual(status, {
    ...{ observedGeneration: 3, definition: 'w-now', active: 0, lastRunTime },
    conditions: [{ ...before, reason: 'Checked', message: 'runs can begin' }],
  });
  assert.equal('lastRunTime' in plan(workflow({}), []).status, false);
  assert.equal(plan(workflow({}), []).status.conditions?.[0]?.lastTransitionTime, at(0));
});

it('a run with the finalizer of a task, or a task of a run in this namespace, is kept beyond the limit', () => {
  const of = workflow({ runsHistoryLimit: 0 });
  const metadata = { name: 'held', namespace: 'n', finalizers: ['minik8s.io/workflow-task'] };
  assert.deepEqual(plan(of, [ended('held', 9, { metadata })]).remove, []);
  const other = { ...metadata, finalizers: ['x'] };
  assert.equal(plan(of, [ended('held', 9, { metadata: other })]).remove.length, 1);
});
