/** Run of a workflow from its beginning to its end on the objects of the API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import type { PlacedCalls } from '../../../../../src/features/functions/api/placed-calls.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowHistoryResource } from '../../../../../src/features/workflows/api/workflow-history.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { revisionName } from '../../../../../src/features/workflows/controller/definitions.ts';
import { workflowRunController } from '../../../../../src/features/workflows/controller/workflow-run.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../../fixtures/fake-functions.ts';
import { at } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';
import { call, key, kinds, pass, run, single, workflow, world } from './run-world.ts';

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
  it('is not written any more after its end', async () => {
    const { server, settle } = world(pass);
    server.put(workflowRunResource, run());
    await settle();
    server.asked.length = 0;
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('does not continue after its end although the cache still shows an older status', async () => {
    const { server, settle, stored, functions } = world(single(call('f')));
    server.put(workflowRunResource, run());
    while (!hasEnded(stored())) {
      for (const kind of kinds) server.sync(kind);
      await server.reconcile(key);
      await server.clock.settle();
    }
    const seen = server.seen.informerFor(workflowRunResource).lister;
    assert.ok(!hasEnded(seen.get(key) ?? assert.fail()), 'the cache is behind');
    server.asked.length = 0;
    for (let look = 0; look < 3; look++) {
      assert.equal(await server.reconcile(key), undefined);
      await server.clock.settle();
    }
    await settle();
    assert.deepEqual([server.asked, functions.sent], [[], 1]);
    server.take(workflowRunResource, key);
    server.put(workflowRunResource, run('r', {}, { uid: 'made-again' }));
    await settle();
    assert.deepEqual([stored().status?.phase, functions.sent], ['Succeeded', 2]);
  });
  it('causes no request if it does not exist', async () => {
    const { server } = world(pass);
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('reports once that it waits for its workflow, and starts when the workflow exists', async () => {
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
  it('that is stopped before its start has ended, with the message of the stop', async () => {
    for (const [stop, words] of [
      [{ error: 'E', cause: 'why' }, ['E', 'why']],
      [{}, ['', '']],
    ] as const) {
      const { server, settle, stored } = world();
      server.put(workflowRunResource, run('r', { stop }));
      await settle();
      const { status } = stored();
      assert.deepEqual(status, {
        ...{ phase: 'Aborted', completionTime: at(0), error: words[0], cause: words[1], historyCount: 0 },
      });
    }
  });
  it('that was stopped before its start is written once, also while the cache is behind', async () => {
    const { server } = world();
    server.put(workflowRunResource, run('r', { stop: { cause: 'why' } }));
    await server.reconcile(key);
    await server.reconcile(key);
    assert.deepEqual(
      server.asked.filter((one) => one.startsWith('updateStatus')),
      ['updateStatus WorkflowRun r'],
    );
  });
  it('has its calls cancelled when it is deleted', async () => {
    const functions = new FakeFunctions(new FakeClock());
    functions.handle = () => 'never';
    const calls = functions.calls();
    const signals: AbortSignal[] = [];
    const placedCalls: PlacedCalls = {
      hasRoom: (call) => calls.hasRoom(call),
      place: (call, signal) => calls.place(call, signal),
      send: (call, signal) => {
        signals.push(signal);
        return calls.send(call, signal);
      },
    };
    const server = new ScriptedWorld(workflowRunController({ placedCalls }));
    server.put(workflowResource, workflow(single(call('f'))));
    server.put(workflowRunResource, run());
    for (let i = 0; i < 4; i++) {
      await server.reconcile(key);
      await server.clock.settle();
      for (const kind of kinds) server.sync(kind);
    }
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false],
    );
    server.take(workflowRunResource, key);
    server.sync(workflowRunResource);
    assert.equal(await server.reconcile(key), undefined);
    assert.equal(signals[0]?.aborted, true);
  });
  it('that is deleted before its start, or whose parent run is deleted, has ended', async () => {
    const parent = { namespace: 'default', name: 'above', uid: 'uid-above', task: '0-0', depth: 1 };
    for (const [one, cause] of [
      [run('r', {}, { deletionTimestamp: at(1), finalizers: ['x'] }), 'the run was deleted'],
      [run('r', { parent }), 'its parent run is gone'],
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
  it('continues with the definition of its start, even if its workflow has changed', async () => {
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
  it('continues with its workflow if the cache shows its revision late, and fails with the name of the revision if both are missing', async () => {
    const both = { StartAt: 'W', States: { W: { Type: 'Wait', Seconds: 60, Next: 'A' }, A: pass.States.A } };
    const { server, settle, stored } = world(both);
    server.put(workflowRunResource, run());
    await settle();
    const name = revisionName(workflow(both));
    server.seen.remove(controllerRevisionResource, `default/${name}`);
    await server.clock.advance(60_000);
    server.put(workflowResource, workflow(pass));
    await assert.rejects(server.reconcile(key), {
      message: `ControllerRevision ${name}, with which the run began, does not exist`,
    });
    server.seen.remove(workflowResource, 'default/w');
    await assert.rejects(server.reconcile(key), { message: /does not exist/ });
    server.put(workflowResource, workflow(both));
    await server.reconcile(key);
    assert.equal(stored().status?.phase, 'Succeeded');
  });
  it('starts again if it was created again under its name', async () => {
    const { server, functions, settle, stored } = world(single(call('hangs')));
    server.put(workflowRunResource, run());
    await settle();
    assert.equal(stored().status?.phase, 'Running');
    server.put(workflowRunResource, run('r', {}, { uid: 'another', resourceVersion: '999' }));
    await settle();
    const ids = functions.ran.map(({ id }) => id.split('.')[0]);
    assert.deepEqual(ids, ['uid-r', 'another']);
  });
  it('moves its stored history into objects, and keeps the end of it', async () => {
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
  for (const [length, names] of [
    [35, ['r-0001']],
    [70, ['r-0001', 'r-0002']],
  ] as const)
    it(`that ends at once after ${length} states has its first entries moved afterwards`, async () => {
      const states = Object.fromEntries(
        Array.from({ length }, (_, i) => [`S${i}`, { Type: 'Pass', Next: `S${i + 1}` }]),
      );
      const { server, settle, stored } = world({
        StartAt: 'S0',
        States: { ...states, [`S${length}`]: { Type: 'Succeed' } },
      });
      server.put(workflowRunResource, run());
      await settle();
      const { status } = stored();
      const chunks = server.all(workflowHistoryResource);
      assert.deepEqual([status?.phase, chunks.map((one) => one.metadata.name)], ['Succeeded', names]);
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
  it('releases the places of its calls if it could not be stored, and they are placed again', async () => {
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
  it('that cannot be stored ends, with its size in the message', async () => {
    const branch = { StartAt: 'A', States: { A: call('f', { Next: 'B' }), B: call('hangs') } };
    const { server, functions, settle, stored } = world(
      single({ Type: 'Parallel', Branches: Array(5).fill(branch), End: true }),
    );
    // The state is a text in the status: each of its quotation marks takes four bytes.
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
