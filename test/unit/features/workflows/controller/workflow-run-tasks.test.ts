/** Tasks of runs, writes of other clients to runs, and changes after which a run is reconciled. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { subjectAccessReviewResource } from '../../../../../src/api/authorization/v1/subject-access-review.ts';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import type { ResourceRef } from '../../../../../src/apimachinery/resource-definition.ts';
import { newConflict, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { workflowRunController } from '../../../../../src/features/workflows/controller/workflow-run.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../../fixtures/fake-functions.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';
import { call, key, kinds, pass, run, single, workflow, world } from './run-world.ts';

describe('tasks of a run', () => {
  it('that wait for a place cause an event, and start when a place is free', async () => {
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
  it('that still wait after a restart have another event', async () => {
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
  it('in another namespace are created only for an account with the right', async () => {
    const { server, functions, settle, stored } = world(single(call('other/f')));
    server.put(workflowRunResource, run());
    await settle();
    await settle();
    assert.deepEqual([stored().status?.phase, stored().status?.error], ['Failed', 'States.Permissions']);
    assert.equal(stored().status?.cause, 'the service account default/robot may not use function other/f');
    assert.equal(functions.ran.length, 0);
  });
  it('in another namespace are authorized once, and made in that namespace', async () => {
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
  it('are stopped with the run, and their objects released', async () => {
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
  it('that are runs return their output, and are kept until it is stored', async () => {
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
  it('that are runs are released if their parent run no longer exists', async () => {
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

describe('a run that another client has written', () => {
  it('is read again after a conflict, and continues', async () => {
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
  it('is no error if it is deleted from the cache too', async () => {
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

describe('the controller reconciles', () => {
  const parent = { namespace: 'up', name: 'above', uid: 'uid-above', task: '0-0', depth: 1 };
  it('a run that changes, and its parent run', () => {
    const { server } = world();
    const one = server.put(workflowRunResource, run('r', { parent }));
    assert.deepEqual(server.keysOf(workflowRunResource, one), [key, 'up/above']);
  });
  it('the runs that were tasks of a deleted run, and not while it exists', () => {
    const { server } = world();
    server.put(workflowRunResource, run('child', { parent: { ...parent, uid: 'uid-r' } }));
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key, 'default/child']);
    server.put(workflowRunResource, run());
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key]);
    server.put(workflowRunResource, run('r', {}, { uid: 'another' }));
    assert.deepEqual(server.keysOf(workflowRunResource, run()), [key, 'default/child']);
  });
  it('only the runs that wait for a workflow, when it is created', () => {
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
  it('thirty-two runs at a time, sixteen of one namespace, and the next when one is finished', async () => {
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
