/** Writes of a run, and the memory that is freed then. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import type { PlacedCalls } from '../../../../../src/features/functions/api/placed-calls.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import {
  FunctionTasks,
  type Task,
  tasksOf,
} from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { LiveRuns } from '../../../../../src/features/workflows/controller/live-runs.ts';
import { RunWriter } from '../../../../../src/features/workflows/controller/run-writer.ts';
import { pending } from '../../../../../src/states-language/run/commands.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { at, meta, start } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const key = 'default/r';
const run = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta('r') },
  spec: { workflow: 'w' },
} as unknown as WorkflowRun;
const { uid } = run.metadata;
/** Run that waits for a Job task, in the state that it has entered `visit` times. */
const waitingIn = (visit: number) =>
  ({
    ...{ execution: {}, input: {}, started: start, events: 1, status: 'Running', stopping: [] },
    root: {
      ...{ state: 'A', input: {}, entered: start, visit, attempt: 0 },
      wait: { for: 'task', resource: 'job:j' },
    },
  }) as unknown as RunState;
const task = (id: string) =>
  ({ type: 'startTask', id, resource: { type: 'job', name: 'j' } }) as unknown as Task;

function world(calls?: PlacedCalls) {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  server.put(workflowRunResource, run);
  const functions = new FunctionTasks({
    calls,
    clock: server.clock,
    wake: () => undefined,
    report: () => undefined,
  });
  const live = new LiveRuns(server.seen.informerFor(workflowRunResource).lister);
  return {
    server,
    functions,
    live,
    writer: new RunWriter(captured.context ?? assert.fail(), functions, live),
  };
}

describe('a run that is stored', () => {
  it('drops only the outcomes of tasks that it no longer awaits', async () => {
    const { functions, writer } = world();
    for (const id of ['0-0', '1-0'])
      functions.settle(uid, 'default', task(id), { type: 'TaskSucceeded', id, output: 1 });
    await writer.store(key, run, { state: waitingIn(1), definition: 'w-1', history: [] });
    assert.deepEqual(
      [functions.eventOf(uid, '0-0'), functions.eventOf(uid, '1-0')?.type],
      [undefined, 'TaskSucceeded'],
    );
  });
  it('is read as written, before the cache shows it', async () => {
    const { writer, live, server } = world();
    const written = await writer.store(key, run, { state: waitingIn(0), definition: 'w-1', history: [] });
    assert.equal(live.newest(key).run, written);
    assert.equal(server.stored(workflowRunResource, key)?.status?.definition, 'w-1');
  });
  it('places only calls of its own namespace at once', async () => {
    const placed: string[] = [];
    const { writer, server } = world({
      hasRoom: () => true,
      place: async ({ id, namespace }) => {
        placed.push(`${namespace} ${id}`);
        return { instance: 'i', release: () => undefined };
      },
      send: async () => assert.fail('nothing is sent'),
    });
    const branch = (visit: number, resource: string) => ({
      ...{ state: 'A', input: {}, entered: start, visit, attempt: 0 },
      wait: { for: 'task', resource },
    });
    const running = Object.fromEntries(
      ['function:f', 'function:other/f', 'job:j', 'workflow:w'].map((of, i) => [i, branch(i, of)]),
    );
    const state = {
      ...waitingIn(0),
      root: {
        ...{ state: 'P', input: {}, entered: start, visit: 0, attempt: 0 },
        wait: { ...{ for: 'children', total: 4, started: 4, outputs: {}, failed: 0 }, running },
      },
    } as unknown as RunState;
    await writer.store(key, run, { state, definition: 'w-1', history: [] });
    const [first] = tasksOf(pending(state));
    assert.deepEqual(placed, [`default ${uid}.${first?.id}`]);
    const { calls } = server.stored(workflowRunResource, key)?.status ?? {};
    assert.deepEqual(calls, [{ id: first?.id, instance: 'i', time: new Date(start).toISOString() }]);
  });
  it('places each new call, but no call that may have been sent before a restart', async () => {
    const placed: string[] = [];
    const { writer, server } = world({
      hasRoom: () => true,
      place: async ({ id }) => {
        placed.push(id);
        return { instance: 'i2', release: () => undefined };
      },
      send: async () => assert.fail('nothing is sent'),
    });
    const branch = (visit: number) => ({
      ...{ state: 'A', input: {}, entered: start, visit, attempt: 0 },
      wait: { for: 'task', resource: 'function:f' },
    });
    const both = {
      ...waitingIn(0),
      root: {
        ...{ state: 'P', input: {}, entered: start, visit: 0, attempt: 0 },
        wait: {
          ...{ for: 'children', total: 2, started: 2, outputs: {}, failed: 0 },
          running: { 0: branch(0), 1: branch(1) },
        },
      },
    } as unknown as RunState;
    const ids = tasksOf(pending(both)).map(({ id }) => id);
    assert.equal(ids.length, 2);
    const mark = { id: ids[0] ?? '', instance: 'i1', time: at(0) };
    const marked = { ...run, status: { phase: 'Running', calls: [mark] } } as unknown as WorkflowRun;
    await writer.store(key, marked, { state: both, definition: 'w-1', history: [] });
    assert.deepEqual(placed, [`${uid}.${ids[1]}`]);
    const { calls = [] } = server.stored(workflowRunResource, key)?.status ?? {};
    assert.deepEqual(Object.fromEntries(calls.map(({ id, instance }) => [id, instance])), {
      [ids[0] ?? '']: 'i1',
      [ids[1] ?? '']: 'i2',
    });
  });
});
