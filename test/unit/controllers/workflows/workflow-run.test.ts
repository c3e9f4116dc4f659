/** How a run goes from its beginning to its end on the objects of the API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../src/api/apps/v1/controller-revision.ts';
import { subjectAccessReviewResource } from '../../../../src/api/authorization/v1/subject-access-review.ts';
import { type Job, jobResource } from '../../../../src/api/batch/v1/job.ts';
import { type Workflow, workflowResource } from '../../../../src/api/minik8s/v1/workflow.ts';
import { workflowHistoryResource } from '../../../../src/api/minik8s/v1/workflow-history.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../src/api/minik8s/v1/workflow-run.ts';
import type { ResourceRef } from '../../../../src/apimachinery/resource-definition.ts';
import { newConflict, newStatusError } from '../../../../src/apimachinery/status-error.ts';
import { revisionName } from '../../../../src/controllers/workflows/definitions.ts';
import { workflowRunController } from '../../../../src/controllers/workflows/workflow-run.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../fixtures/fake-functions.ts';
import { at, meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/r';
const kinds: readonly ResourceRef[] = [
  workflowResource,
  controllerRevisionResource,
  jobResource,
  workflowRunResource,
];
const call = (name: string, more: object = { End: true }) => ({
  ...{ Type: 'Task', Resource: `function:${name}` },
  ...more,
});
const single = (state: object) => ({ StartAt: 'A', States: { A: state } });
const pass = single({ Type: 'Pass', Result: { done: true }, End: true });
const workflow = (definition: object, over: object = {}, spec: object = {}): Workflow =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: meta('w', over) },
    spec: { definition, serviceAccountName: 'robot', public: false, runsHistoryLimit: 10, ...spec },
  }) as unknown as Workflow;
const run = (name = 'r', spec: object = {}, over: object = {}): WorkflowRun =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta(name, over) },
    spec: { workflow: 'w', ...spec },
  }) as unknown as WorkflowRun;

function world(definition?: object, spec: object = {}) {
  const functions = new FakeFunctions(new FakeClock());
  functions.handle = ({ function: name, input }) =>
    name === 'hangs' ? 'never' : name === 'absent' ? undefined : { output: { name, input } };
  const server = new ScriptedWorld((context) =>
    workflowRunController({ placedCalls: functions.calls() })(context),
  );
  const enqueued: string[] = [];
  server.controller.onAttach?.((keys) => void enqueued.push(...keys));
  if (definition) server.put(workflowResource, workflow(definition, {}, spec));
  /** Looks of the controller with a cache that follows, until nothing is asked for any more. */
  const settle = async (...keys: string[]) => {
    for (let quiet = 0, before = -1; quiet < 2; before = server.asked.length) {
      quiet = before === server.asked.length ? quiet + 1 : 0;
      for (const one of keys.length > 0 ? keys : [key]) await server.reconcile(one);
      await server.clock.settle();
      for (const kind of kinds) server.sync(kind);
    }
  };
  const stored = (of = key) =>
    server.stored<WorkflowRun>(workflowRunResource, of) ?? assert.fail('it is gone');
  return { server, functions, enqueued, settle, stored };
}

describe('a run', () => {
  it('begins with its workflow, owned by it, and ends with output and history', async () => {
    const { server, settle, stored } = world(pass);
    const others = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }];
    server.put(workflowRunResource, run('r', { input: { a: 1 } }, { ownerReferences: others }));
    await settle();
    const { metadata, status } = stored();
    assert.deepEqual(metadata.ownerReferences, [
      ...others,
      { apiVersion: 'minik8s.io/v1', kind: 'Workflow', name: 'w', uid: 'uid-w' },
    ]);
    const { phase, output, definition, startTime, completionTime, state } = status ?? {};
    assert.deepEqual(
      [phase, output, definition, startTime, completionTime, state],
      ['Succeeded', { done: true }, revisionName(workflow(pass)), at(0), at(0), undefined],
    );
    const types = status?.history?.map(({ type }) => type) ?? [];
    assert.deepEqual([types[0], types.at(-1)], ['ExecutionStarted', 'ExecutionSucceeded']);
  });
  it('that has ended is written no more', async () => {
    const { server, settle } = world(pass);
    server.put(workflowRunResource, run());
    await settle();
    server.asked.length = 0;
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('that has ended is not begun again while the cache does not show its end', async () => {
    const { server, functions, settle } = world(single(call('f')));
    server.put(workflowRunResource, run());
    await server.reconcile(key);
    await server.clock.settle();
    // The cache shows the call, and no more.
    server.sync(workflowRunResource);
    await server.reconcile(key);
    await server.clock.settle();
    await server.reconcile(key);
    assert.equal(server.stored<WorkflowRun>(workflowRunResource, key)?.status?.phase, 'Succeeded');
    server.asked.length = 0;
    await server.reconcile(key);
    await server.clock.settle();
    assert.deepEqual([server.asked, functions.ran.length], [[], 1]);
    await settle();
    assert.deepEqual(server.asked, []);
  });
  it('that is not there asks for nothing', async () => {
    const { server } = world(pass);
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('says once that it waits for its workflow, and begins when that is there', async () => {
    const { server, settle, stored } = world();
    server.put(workflowRunResource, run());
    await settle();
    assert.deepEqual(stored().status, {
      phase: 'Pending',
      conditions: [
        {
          ...{ type: 'Started', status: 'False', reason: 'WorkflowNotFound' },
          ...{ message: 'there is no workflow w', lastTransitionTime: at(0) },
        },
      ],
    });
    assert.equal(server.asked.filter((one) => one.startsWith('updateStatus')).length, 1);
    const deleted = workflow(pass, { deletionTimestamp: at(1), finalizers: ['x'] });
    server.put(workflowResource, deleted);
    await settle();
    assert.equal(stored().status?.phase, 'Pending', 'it does not begin with one that is being deleted');
    server.put(workflowResource, workflow(pass));
    await settle();
    assert.equal(stored().status?.phase, 'Succeeded');
  });
  it('that is stopped before it begins is over, with the words of who stopped it', async () => {
    for (const [stop, words] of [
      [{ error: 'E', cause: 'why' }, ['E', 'why']],
      [{}, ['', '']],
    ] as const) {
      const { server, settle, stored } = world();
      server.put(workflowRunResource, run('r', { stop }));
      await server.reconcile(key);
      await server.reconcile(key);
      const writes = server.asked.filter((one) => one.startsWith('updateStatus'));
      assert.equal(writes.length, 1, 'the cache does not show the end yet');
      await settle();
      const { status } = stored();
      assert.deepEqual(status, {
        ...{ phase: 'Aborted', completionTime: at(0), error: words[0], cause: words[1], historyCount: 0 },
      });
    }
  });
  it('that is deleted before it begins, or whose run above is gone, is over', async () => {
    const parent = { namespace: 'default', name: 'above', uid: 'uid-above', task: '0-0', depth: 1 };
    for (const [one, cause] of [
      [run('r', {}, { deletionTimestamp: at(1), finalizers: ['x'] }), 'the run was deleted'],
      [run('r', { parent }), 'the run whose task it was is gone'],
    ] as const) {
      const { server, settle, stored } = world(pass);
      server.put(workflowRunResource, one);
      await settle();
      assert.deepEqual([stored().status?.phase, stored().status?.cause], ['Aborted', cause]);
    }
    const { server, settle, stored } = world(pass);
    server.put(workflowRunResource, run('above'));
    server.put(workflowRunResource, run('r', { parent }));
    await settle();
    assert.equal(stored().status?.phase, 'Succeeded', 'the run above is there');
  });
  it('goes on with the definition with which it began, whatever its workflow says by then', async () => {
    const wait = { StartAt: 'W', States: { W: { Type: 'Wait', Seconds: 60, Next: 'A' }, A: pass.States.A } };
    const { server, settle, stored } = world(wait);
    server.put(workflowRunResource, run());
    await settle();
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 60_000 });
    server.put(workflowResource, workflow(single({ Type: 'Fail', Error: 'Changed' })));
    await server.clock.advance(59_000);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 1000 });
    await server.clock.advance(1000);
    await settle();
    assert.deepEqual([stored().status?.phase, stored().status?.output], ['Succeeded', { done: true }]);
    assert.equal(stored().status?.completionTime, at(60));
  });
  it('goes on with its workflow where the cache shows its revision late, and fails by name without either', async () => {
    const both = { StartAt: 'W', States: { W: { Type: 'Wait', Seconds: 60, Next: 'A' }, A: pass.States.A } };
    const { server, settle, stored } = world(both);
    server.put(workflowRunResource, run());
    await settle();
    const name = revisionName(workflow(both));
    server.seen.remove(controllerRevisionResource, `default/${name}`);
    await server.clock.advance(60_000);
    server.put(workflowResource, workflow(pass));
    await assert.rejects(server.reconcile(key), {
      message: `ControllerRevision ${name}, with which the run began, is not there`,
    });
    server.seen.remove(workflowResource, 'default/w');
    await assert.rejects(server.reconcile(key), { message: /is not there/ });
    server.put(workflowResource, workflow(both));
    await server.reconcile(key);
    assert.equal(stored().status?.phase, 'Succeeded');
  });
  it('whose object was made again under its name begins anew', async () => {
    const { server, functions, settle, stored } = world(single(call('hangs')));
    server.put(workflowRunResource, run());
    await settle();
    assert.equal(stored().status?.phase, 'Running');
    server.put(workflowRunResource, run('r', {}, { uid: 'another', resourceVersion: '999' }));
    await settle();
    const ids = functions.ran.map(({ id }) => id.split('.')[0]);
    assert.deepEqual(ids, ['uid-r', 'another']);
  });
  it('moves the history it has stored into objects, and keeps the end of it', async () => {
    const states = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `S${i}`,
        i % 10 === 9 ? { Type: 'Wait', Seconds: 1, Next: `S${i + 1}` } : { Type: 'Pass', Next: `S${i + 1}` },
      ]),
    );
    const { server, settle, stored } = world({
      StartAt: 'S0',
      States: { ...states, S40: { Type: 'Succeed' } },
    });
    server.put(workflowRunResource, run());
    for (let i = 0; i < 6; i++) {
      await settle();
      await server.clock.advance(1000);
    }
    const { status } = stored();
    assert.equal(status?.phase, 'Succeeded');
    const chunks = server.all(workflowHistoryResource);
    const { apiVersion, kind, metadata, spec } = chunks[0] ?? assert.fail();
    assert.deepEqual(
      [apiVersion, kind, metadata.name, spec.run],
      ['minik8s.io/v1', 'WorkflowHistory', 'r-0001', 'r'],
    );
    const owner = { apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', name: 'r', uid: 'uid-r' };
    assert.deepEqual(metadata.ownerReferences, [owner]);
    const ids = [...chunks.flatMap((one) => one.spec.entries), ...(status?.history ?? [])].map(
      ({ id }) => id,
    );
    assert.deepEqual(
      ids,
      Array.from({ length: status?.historyCount ?? 0 }, (_, i) => i + 1),
    );
    assert.deepEqual(
      chunks.map((one) => one.metadata.name),
      ['r-0001'],
    );
  });
  it('that ends at once with much history has the first of it moved after that', async () => {
    const states = Object.fromEntries(
      Array.from({ length: 70 }, (_, i) => [`S${i}`, { Type: 'Pass', Next: `S${i + 1}` }]),
    );
    const { server, settle, stored } = world({
      StartAt: 'S0',
      States: { ...states, S70: { Type: 'Succeed' } },
    });
    server.put(workflowRunResource, run());
    await settle();
    const { status } = stored();
    const chunks = server.all(workflowHistoryResource);
    assert.deepEqual(
      [status?.phase, chunks.map((one) => one.metadata.name)],
      ['Succeeded', ['r-0001', 'r-0002']],
    );
    const ids = [...chunks.flatMap((one) => one.spec.entries), ...(status?.history ?? [])].map(
      ({ id }) => id,
    );
    assert.deepEqual(
      ids,
      Array.from({ length: status?.historyCount ?? 0 }, (_, i) => i + 1),
    );
    assert.equal(status?.history?.at(-1)?.type, 'ExecutionSucceeded');
    assert.ok((status?.history?.length ?? 99) <= 50);
  });
  it('that could not be stored gives back the places of its calls, and is placed anew', async () => {
    for (const isBegun of [false, true]) {
      const functions = new FakeFunctions(new FakeClock());
      functions.handle = () => ({ output: 1 });
      const calls = functions.calls();
      const server = new ScriptedWorld(workflowRunController({ placedCalls: calls }));
      const wait = { Type: 'Wait', Seconds: 1, Next: 'A' };
      const states = { ...(isBegun && { W: wait }), A: call('f') };
      server.put(workflowResource, workflow({ StartAt: isBegun ? 'W' : 'A', States: states }));
      server.put(workflowRunResource, run());
      if (isBegun) await server.reconcile(key);
      for (const kind of kinds) server.sync(kind);
      await server.clock.advance(1000);
      server.refuse = (verb) => (verb === 'updateStatus' ? new Error('away') : undefined);
      await assert.rejects(server.reconcile(key), { message: 'away' });
      assert.equal(calls.held, 0);
      server.refuse = () => undefined;
      for (let i = 0; i < 4; i++) {
        for (const kind of kinds) server.sync(kind);
        await server.reconcile(key);
        await server.clock.settle();
      }
      const { status } = server.stored<WorkflowRun>(workflowRunResource, key) ?? assert.fail();
      assert.deepEqual([status?.phase, functions.ran.length, calls.held], ['Succeeded', 1, 0]);
    }
  });
  it('that cannot be stored ends, and says how large it is', async () => {
    const branch = { StartAt: 'A', States: { A: call('f', { Next: 'B' }), B: call('hangs') } };
    const { server, functions, settle, stored } = world(
      single({ Type: 'Parallel', Branches: Array(5).fill(branch), End: true }),
    );
    // In the status the state is a text: each of its quotation marks takes four bytes.
    const output = { output: '"'.repeat(80_000) };
    functions.handle = ({ function: name }) => (name === 'hangs' ? 'never' : output);
    server.put(workflowRunResource, run());
    await settle();
    const { phase, cause = '', error, state } = stored().status ?? {};
    assert.deepEqual([phase, error, state], ['Failed', 'States.DataLimitExceeded', undefined]);
    assert.match(cause, /^the run has \d+ bytes of JSON, and may have 1300000$/);
    assert.equal(stored().status?.history?.at(-1)?.type, 'ExecutionFailed');
    assert.ok(Buffer.byteLength(JSON.stringify(stored())) < 1_300_000);
  });
});

describe('tasks of a run', () => {
  it('that wait are told in an event, and go on when there is a place', async () => {
    const { server, functions, enqueued, settle, stored } = world(single(call('f')));
    const busy = newStatusError('ServiceUnavailable', 'no room');
    functions.refusal = busy;
    server.put(workflowRunResource, run());
    await settle();
    assert.deepEqual(server.told, ['Warning TaskWaits r: task 0-0 waits for function f: no room']);
    assert.deepEqual([stored().status?.phase, enqueued], ['Running', []]);
    functions.refusal = undefined;
    await server.clock.advance(100);
    assert.deepEqual(enqueued, [key], 'its place is to be stored');
    await settle();
    assert.equal(stored().status?.phase, 'Succeeded');
  });
  it('that still wait after a restart are told of again', async () => {
    const { server, functions, stored, settle } = world(single(call('f')));
    functions.refusal = newStatusError('ServiceUnavailable', 'no room');
    server.put(workflowRunResource, run());
    await settle();
    const after = world(single(call('f')));
    after.functions.refusal = functions.refusal;
    for (const kind of kinds)
      for (const one of server.all(kind as never)) after.server.put(kind as never, one);
    assert.equal(stored().status?.phase, 'Running');
    await after.settle();
    assert.deepEqual(after.server.told, server.told);
    assert.equal(after.server.told.length, 1);
  });
  it('of another namespace are made only for an account that may have them', async () => {
    const { server, functions, settle, stored } = world(single(call('other/f')));
    server.put(workflowRunResource, run());
    await settle();
    await settle();
    assert.deepEqual([stored().status?.phase, stored().status?.error], ['Failed', 'States.Permissions']);
    assert.equal(stored().status?.cause, 'the service account default/robot may not use function other/f');
    assert.equal(functions.ran.length, 0);
  });
  it('of another namespace are asked for once, and called there', async () => {
    const functions = new FakeFunctions(new FakeClock());
    functions.handle = ({ function: name }) => (name === 'hangs' ? 'never' : { output: name });
    let asked = 0;
    const reviews = {
      create: async () => {
        asked++;
        return { status: { allowed: true } };
      },
    };
    const server = new ScriptedWorld((context) => {
      const resource = (ref: ResourceRef) =>
        ref === subjectAccessReviewResource ? reviews : context.client.resource(ref);
      const client = { resource } as unknown as typeof context.client;
      return workflowRunController({ placedCalls: functions.calls() })({ ...context, client });
    });
    server.put(workflowResource, workflow(single(call('other/hangs'))));
    server.put(workflowRunResource, run());
    for (let i = 0; i < 5; i++) {
      await server.reconcile(key);
      await server.clock.settle();
      for (const kind of kinds) server.sync(kind);
    }
    assert.deepEqual([asked, functions.ran.length], [1, 1]);
  });
  it('are stopped with the run, and their objects let go of', async () => {
    const { server, functions, settle, stored } = world({
      StartAt: 'Both',
      States: {
        Both: {
          ...{ Type: 'Parallel', End: true },
          Branches: [
            single({ Type: 'Task', Resource: 'workflow:w2', End: true }),
            { StartAt: 'B', States: { B: call('hangs') } },
          ],
        },
      },
    });
    const inner = { ...workflow(single(call('hangs'))), metadata: meta('w2') };
    server.put(workflowResource, inner);
    server.put(workflowRunResource, run());
    await settle();
    const child =
      server.all<WorkflowRun>(workflowRunResource).find(({ spec }) => spec.parent) ?? assert.fail();
    await settle(key, `default/${child.metadata.name}`);
    assert.equal(functions.ran.length, 2);
    server.edit<WorkflowRun>(workflowRunResource, key, (one) => ({
      ...one,
      spec: { ...one.spec, stop: { error: 'Stop', cause: 'enough' } },
    }));
    server.sync(workflowRunResource);
    await settle(key, `default/${child.metadata.name}`);
    assert.deepEqual(
      [stored().status?.phase, stored().status?.error, stored().status?.cause, stored().status?.state],
      ['Aborted', 'Stop', 'enough', undefined],
    );
    const after = stored(`default/${child.metadata.name}`);
    assert.ok(hasEnded(after));
    assert.deepEqual([after.status?.phase, after.metadata.finalizers], ['Aborted', []]);
  });
  it('that are runs give their output, and are held until it is stored', async () => {
    const { server, settle, stored } = world(single({ Type: 'Task', Resource: 'workflow:w2', End: true }));
    server.put(workflowResource, { ...workflow(pass), metadata: meta('w2') });
    server.put(workflowRunResource, run());
    await settle();
    const child =
      server.all<WorkflowRun>(workflowRunResource).find(({ spec }) => spec.parent) ?? assert.fail();
    const childKey = `default/${child.metadata.name}`;
    await settle(childKey);
    assert.deepEqual(
      [stored(childKey).status?.phase, stored(childKey).metadata.finalizers],
      ['Succeeded', ['minik8s.io/workflow-task']],
    );
    await settle();
    assert.deepEqual(
      [stored().status?.phase, stored().status?.output, stored(childKey).metadata.finalizers],
      ['Succeeded', { done: true }, []],
    );
  });
  it('that are runs whose run above is gone let go of themselves', async () => {
    const parent = { namespace: 'default', name: 'above', uid: 'uid-above', task: '0-0', depth: 1 };
    const { server, settle, stored } = world(pass);
    server.put(workflowRunResource, run('above'));
    server.put(workflowRunResource, run('r', { parent }, { finalizers: ['minik8s.io/workflow-task'] }));
    await settle();
    assert.deepEqual(stored().metadata.finalizers, ['minik8s.io/workflow-task']);
    server.take(workflowRunResource, 'default/above');
    server.sync(workflowRunResource);
    await settle();
    assert.deepEqual([stored().status?.phase, stored().metadata.finalizers], ['Succeeded', []]);
  });
});

describe('a run that somebody else has written', () => {
  it('is read again after a conflict, and goes on', async () => {
    const { server, settle, stored, functions } = world(single(call('f')));
    server.put(workflowRunResource, run());
    await server.reconcile(key);
    await server.clock.settle();
    server.edit<WorkflowRun>(workflowRunResource, key, (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { a: 'b' } },
    }));
    await assert.rejects(server.reconcile(key), { name: 'StatusError' });
    await settle();
    await settle();
    assert.deepEqual([stored().status?.phase, stored().metadata.labels], ['Succeeded', { a: 'b' }]);
    assert.equal(functions.ran.length, 1);
  });
  it('is read once for a conflict, and not for another error', async () => {
    for (const [fault, reads] of [
      [newConflict(workflowRunResource, 'r', 'changed'), 1],
      [new Error('away'), 0],
    ] as const) {
      const { server } = world(pass);
      server.put(workflowRunResource, run());
      server.refuse = (verb) => (verb === 'updateStatus' ? fault : undefined);
      await assert.rejects(server.reconcile(key), fault);
      assert.equal(server.asked.filter((one) => one === 'get WorkflowRun r').length, reads);
    }
  });
  it('is no error where it is gone from the cache too', async () => {
    const { server } = world(pass);
    server.put(workflowRunResource, run());
    server.take(workflowRunResource, key);
    await assert.rejects(server.reconcile(key), { name: 'StatusError' });
    const { server: other } = world(pass);
    other.put(workflowRunResource, run());
    other.refuse = (verb) => {
      if (verb !== 'patch') return undefined;
      other.take(workflowRunResource, key);
      other.seen.remove(workflowRunResource, key);
      return undefined;
    };
    assert.equal(await other.reconcile(key), undefined);
  });
});

describe('the controller looks at', () => {
  const parent = { namespace: 'up', name: 'above', uid: 'uid-above', task: '0-0', depth: 1 };
  it('a run that changes, and the run whose task it is', () => {
    const { server } = world();
    const one = server.put(workflowRunResource, run('r', { parent }));
    assert.deepEqual(server.keysOf(workflowRunResource, one), [key, 'up/above']);
  });
  it('the runs that were tasks of one that is gone, and not while it is there', () => {
    const { server } = world();
    server.put(workflowRunResource, run('child', { parent: { ...parent, uid: 'uid-r' } }));
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key, 'default/child']);
    server.put(workflowRunResource, run());
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key]);
    server.put(workflowRunResource, run('r', {}, { uid: 'another' }));
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key, 'default/child']);
  });
  it('the runs that wait for a workflow which comes, and no others', () => {
    const { server } = world();
    server.put(workflowRunResource, run('waits'));
    server.put(workflowRunResource, {
      ...run('runs'),
      status: { phase: 'Running', startTime: at(0) },
    } as never);
    server.put(workflowRunResource, run('of-another', { workflow: 'v' }));
    server.put(workflowRunResource, run('elsewhere', {}, { namespace: 'other' }));
    assert.deepEqual(server.keysOf(workflowResource, workflow(pass)), ['default/waits']);
  });
  it('the run of a Job that changes', () => {
    const { server } = world();
    const job = (annotations: object) =>
      ({ metadata: meta('j', { annotations } as never) }) as unknown as Job;
    assert.deepEqual(server.keysOf(jobResource, job({ 'minik8s.io/workflow-run': 'a/b' })), ['a/b']);
    assert.deepEqual(server.keysOf(jobResource, job({})), []);
    assert.deepEqual(server.keysOf(jobResource, { metadata: meta('j') } as unknown as Job), []);
  });
  it('thirty-two runs at a time, sixteen of one namespace, and the next when one is done with', async () => {
    const { server, enqueued } = world(pass);
    const { name, workers } = server.controller;
    assert.deepEqual([name, workers], ['workflow-run', 32]);
    const names = Array.from({ length: 18 }, (_, i) => `r${i}`);
    for (const one of names) server.put(workflowRunResource, run(one));
    const looks = names.map((one) => server.reconcile(`default/${one}`));
    await Promise.all(looks.slice(16));
    assert.equal(server.asked.filter((one) => /r1[67]$/.test(one)).length, 0, 'they wait for their turn');
    await Promise.all(looks);
    assert.deepEqual([...new Set(enqueued)].toSorted(), ['default/r16', 'default/r17']);
  });
});
