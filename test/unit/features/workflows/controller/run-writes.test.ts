/** Writes of a run that waits, is stopped, or has too much history. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newForbidden } from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowHistoryResource } from '../../../../../src/features/workflows/api/workflow-history.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { FunctionTasks } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { LiveRuns } from '../../../../../src/features/workflows/controller/live-runs.ts';
import { RunWriter } from '../../../../../src/features/workflows/controller/run-writer.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { meta, start } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const key = 'default/r';
const runOf = (spec: object = {}, over: object = {}, status?: object) =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta('r', over) },
    spec: { workflow: 'w', ...spec },
    ...(status && { status }),
  }) as unknown as WorkflowRun;
const workflow = { metadata: meta('w') } as unknown as Workflow;
const owner = { apiVersion: 'minik8s.io/v1', kind: 'Workflow', name: 'w', uid: 'uid-w' };
const entries = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, time: 'T', type: 'TaskScheduled' }));
const ended = {
  format: 1,
  execution: {},
  input: {},
  started: start,
  events: 130,
  status: 'Succeeded',
  stopping: [],
};

function world(run: WorkflowRun) {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  server.put(workflowRunResource, run);
  const functions = new FunctionTasks({
    ...{ calls: undefined, clock: server.clock },
    ...{ wake: () => undefined, report: () => undefined },
  });
  const live = new LiveRuns(server.seen.informerFor(workflowRunResource).lister);
  const stored = () => server.stored<WorkflowRun>(workflowRunResource, key) ?? assert.fail();
  return { server, live, stored, writer: new RunWriter(captured.context ?? assert.fail(), functions, live) };
}

describe('the owners of a run', () => {
  it('contain its workflow once', async () => {
    const run = runOf();
    const { writer, server } = world(run);
    const owned = await writer.owned(run, workflow);
    assert.deepEqual(owned.metadata.ownerReferences, [owner]);
    server.asked.length = 0;
    assert.equal(await writer.owned(owned, workflow), owned);
    assert.deepEqual(server.asked, []);
  });
  it('contain it for a task of a run in another namespace, but not for a task of a run in this namespace', async () => {
    const parent = (namespace: string) => ({
      parent: { namespace, name: 'p', uid: 'u', task: '0-0', depth: 1 },
    });
    const here = runOf(parent('default'));
    assert.equal(await world(here).writer.owned(here, workflow), here);
    const elsewhere = runOf(parent('other'));
    const { metadata } = await world(elsewhere).writer.owned(elsewhere, workflow);
    assert.deepEqual(metadata.ownerReferences, [owner]);
  });
  it('are not written into a run that was created again, or changed, in the meantime', async () => {
    for (const over of [{ uid: 'another' }, { resourceVersion: '2' }]) {
      const run = runOf();
      const { writer, server, stored } = world(run);
      server.store(workflowRunResource, runOf({}, over));
      await assert.rejects(writer.owned(run, workflow), { name: 'StatusError' });
      assert.equal(stored().metadata.ownerReferences, undefined);
    }
  });
});

describe('the history of a run', () => {
  it('continues in the next object if a part was moved before', async () => {
    const run = runOf({}, {}, { phase: 'Running', history: entries(70, 51) });
    const { writer, server, stored } = world(run);
    const history = [...entries(70, 51), ...entries(10, 121)];
    await writer.store(key, run, { state: ended as unknown as RunState, definition: 'w-1', history });
    const [moved] = server.all(workflowHistoryResource);
    assert.deepEqual(
      [moved?.metadata.name, moved?.metadata.namespace, moved?.spec.entries.map(({ id }) => id)],
      ['r-0002', 'default', entries(50, 51).map(({ id }) => id)],
    );
    assert.deepEqual(
      stored().status?.history?.map(({ id }) => id),
      entries(30, 101).map(({ id }) => id),
    );
  });
  it('is not moved if it was never stored', async () => {
    const run = runOf({}, {}, { phase: 'Running', history: entries(10) });
    const { writer, server, stored } = world(run);
    const history = entries(80);
    await writer.store(key, run, { state: ended as unknown as RunState, definition: 'w-1', history });
    assert.deepEqual(server.names(workflowHistoryResource), []);
    assert.equal(stored().status?.history?.length, 80);
  });
  it('is trimmed to its last entry after the end of the run, and the rest of the status is kept', async () => {
    const status = { phase: 'Succeeded', output: 7, history: entries(120), historyCount: 120 };
    const run = runOf({}, {}, status);
    const { writer, server, stored, live } = world(run);
    const written = await writer.trim(key, run);
    assert.deepEqual(server.names(workflowHistoryResource), ['r-0001', 'r-0002']);
    assert.deepEqual(stored().status, { ...status, history: entries(20, 101) });
    assert.equal(live.newest(key).run, written);
  });
  it('is not moved twice after a restart, and is kept if it cannot be moved', async () => {
    const run = runOf({}, {}, { phase: 'Succeeded', history: entries(60) });
    const { writer, server, stored } = world(run);
    const refused = newForbidden(workflowHistoryResource, 'r-0001', 'exceeded quota');
    server.refuse = (verb) => (verb === 'create' ? refused : undefined);
    await assert.rejects(writer.trim(key, run), refused);
    assert.equal(stored().status?.history?.length, 60);
    server.refuse = (verb) => (verb === 'updateStatus' ? new Error('away') : undefined);
    await assert.rejects(writer.trim(key, run), { message: 'away' });
    server.refuse = () => undefined;
    await writer.trim(key, run);
    assert.deepEqual(server.names(workflowHistoryResource), ['r-0001']);
    assert.deepEqual(stored().status?.history, entries(10, 51));
  });
  it('is empty for a run without entries', async () => {
    const run = runOf({}, {}, { phase: 'Succeeded' });
    const { writer, stored } = world(run);
    await writer.trim(key, run);
    assert.deepEqual(stored().status, { phase: 'Succeeded', history: [] });
  });
});

describe('a workflow that does not exist', () => {
  it('is reported again if another object is missing', async () => {
    const run = runOf();
    const { writer, server, stored } = world(run);
    await writer.waits(run, 'there is no workflow w');
    const first = stored();
    await writer.waits(first, 'there is no workflow w');
    assert.equal(stored(), first);
    await writer.waits(first, 'there is no workflow v');
    assert.equal(stored().status?.conditions?.[0]?.message, 'there is no workflow v');
    assert.deepEqual(server.names(workflowResource), []);
  });
});
