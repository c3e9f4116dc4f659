/**
 * Objects that the workflow controller keeps and removes, and the status that it writes for each workflow.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ControllerRevision,
  controllerRevisionResource,
} from '../../../../../src/api/apps/v1/controller-revision.ts';
import { newForbidden } from '../../../../../src/apimachinery/status-error.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { revisionName } from '../../../../../src/features/workflows/controller/definitions.ts';
import {
  workflowController,
  workflowRights,
} from '../../../../../src/features/workflows/controller/workflow.ts';
import { workflowRunRights } from '../../../../../src/features/workflows/controller/workflow-run.ts';
import { atEachRequest } from '../../../controllers/at-each-request.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const key = 'default/w';
const workflow = (spec: object = {}, over: object = {}): Workflow =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: meta('w', { generation: 3, ...over }) },
    spec: {
      definition: { StartAt: 'A', States: { A: { Type: 'Succeed' } } },
      ...{ serviceAccountName: 'default', public: false, runsHistoryLimit: 1, ...spec },
    },
  }) as unknown as Workflow;
const run = (name: string, ended?: number, over: object = {}, of = 'w'): WorkflowRun =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta(name, over) },
    spec: { workflow: of },
    status:
      ended === undefined
        ? { phase: 'Running', definition: 'w-used' }
        : { phase: 'Succeeded', definition: 'w-used', completionTime: at(ended) },
  }) as unknown as WorkflowRun;
const revision = (name: string, over: object = {}): ControllerRevision =>
  ({
    ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision' },
    metadata: meta(name, { labels: { 'minik8s.io/workflow': 'w' }, ...over }),
    ...{ data: {}, revision: 1 },
  }) as unknown as ControllerRevision;

describe('a workflow', () => {
  it('has its definition stored, and a status with the condition Ready and the number of running runs', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow());
    server.put(workflowRunResource, run('goes-on'));
    server.put(workflowRunResource, run('of-another', undefined, {}, 'v'));
    server.put(workflowRunResource, run('elsewhere', undefined, { namespace: 'other' }));
    assert.equal(await server.reconcile(key), undefined);
    const name = revisionName(workflow());
    assert.deepEqual(server.names(controllerRevisionResource), [name]);
    assert.deepEqual(server.stored(workflowResource, key)?.status, {
      ...{ observedGeneration: 3, definition: name, active: 1, lastRunTime: at(0) },
      conditions: [
        {
          ...{ type: 'Ready', status: 'True', reason: 'Checked', message: 'runs can begin' },
          lastTransitionTime: at(0),
        },
      ],
    });
  });
  it('loses its oldest run and the definition without runs, and nothing of another workflow', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    await server.clock.advance(601_000);
    server.put(workflowResource, workflow());
    for (const one of [run('old', 10), run('new', 20), run('of-another', 5, {}, 'v'), run('goes-on')])
      server.put(workflowRunResource, one);
    for (const one of [
      ...[revision('w-used'), revision('w-unused')],
      revision('unlabelled', { labels: {} }),
      revision('v-unused', { labels: { 'minik8s.io/workflow': 'v' } }),
    ])
      server.put(controllerRevisionResource, one);
    await server.reconcile(key);
    const isGoing = ({ metadata }: { metadata: { deletionTimestamp?: string | undefined } }) =>
      metadata.deletionTimestamp !== undefined;
    const left = (names: readonly string[]) => names.toSorted();
    assert.deepEqual(left([...server.gone.keys()]), ['old', 'w-unused']);
    assert.equal(server.all(workflowRunResource).some(isGoing), false);
  });
  it('ignores revisions of other owners, which have no label of a workflow', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    await server.clock.advance(601_000);
    server.put(workflowResource, { ...workflow(), metadata: meta('undefined') });
    server.put(controllerRevisionResource, revision('of-a-set', { labels: {} }));
    server.put(controllerRevisionResource, revision('of-another-set', { labels: undefined }));
    await server.reconcile('default/undefined');
    assert.deepEqual([...server.gone.keys()], []);
  });
  it('does not delete a new run with the name of a run in the cache', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow({ runsHistoryLimit: 0 }));
    server.put(workflowRunResource, run('old', 10));
    server.store(workflowRunResource, run('old', undefined, { uid: 'made-again' }));
    await assert.rejects(server.reconcile(key), { name: 'StatusError' });
    assert.equal(server.stored(workflowRunResource, 'default/old')?.metadata.uid, 'made-again');
  });
  it('continues if the object to remove is already deleted', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow({ runsHistoryLimit: 0 }));
    for (const name of ['a', 'b']) server.put(workflowRunResource, run(name, 10));
    server.take(workflowRunResource, 'default/a');
    await server.reconcile(key);
    assert.deepEqual(server.names(workflowRunResource), []);
  });
  it('causes no write if it is missing or being deleted', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    assert.equal(await server.reconcile(key), undefined);
    server.put(workflowResource, workflow({}, { deletionTimestamp: at(1), finalizers: ['x'] }));
    assert.equal(await server.reconcile(key), undefined);
    assert.deepEqual(server.asked, []);
  });
  it('is reconciled at most once a second, and at once when it was created again', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow());
    await server.reconcile(key);
    server.asked.length = 0;
    await server.clock.advance(400);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 600 });
    assert.deepEqual(server.asked, []);
    await server.clock.advance(599);
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 1 });
    await server.clock.advance(1);
    server.sync(workflowResource);
    assert.equal(await server.reconcile(key), undefined);
    server.seen.remove(workflowResource, key);
    await server.reconcile(key);
    server.put(workflowResource, workflow({}, { uid: 'another' }));
    assert.equal(await server.reconcile(key), undefined);
  });
  it('is not written if its status is up to date', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow());
    await server.reconcile(key);
    server.sync(workflowResource);
    server.sync(controllerRevisionResource);
    server.asked.length = 0;
    await server.clock.advance(1000);
    await server.reconcile(key);
    assert.deepEqual(server.asked, []);
  });
  it('is reconciled again when the time of its next run has passed', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow({ runsHistoryLimit: 5, ttlSecondsAfterFinished: 30 }));
    server.put(workflowRunResource, run('a', 10));
    assert.deepEqual(await server.reconcile(key), { requeueAfter: 40_000 });
  });
  it('has an error if its definition cannot be stored', async () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    server.put(workflowResource, workflow());
    const refused = newForbidden(controllerRevisionResource, 'x', 'no');
    server.refuse = (verb) => (verb === 'create' ? refused : undefined);
    await assert.rejects(server.reconcile(key), refused);
    assert.equal(server.stored(workflowResource, key)?.status, undefined);
  });
  it('is reconciled when it or a run of it changes', () => {
    const server = new ScriptedWorld(workflowController, 0, [workflowRights, workflowRunRights]);
    assert.deepEqual(server.keysOf(workflowResource, workflow()), [key]);
    assert.deepEqual(server.keysOf(workflowRunResource, run('a', 1, { namespace: 'other' })), ['other/w']);
    assert.deepEqual([server.controller.name, server.controller.workers], ['workflow', 4]);
  });
  it('has the same result if any requests fail', async () => {
    const options = {
      ...{ keys: [key], kinds: [workflowResource, workflowRunResource, controllerRevisionResource] },
      factory: workflowController,
    };
    await atEachRequest(options, async (world) => {
      world.server.clock.spend(601_000);
      world.server.put(workflowResource, workflow());
      for (const one of [run('old', 10), run('new', 20)]) world.server.put(workflowRunResource, one);
      world.server.put(controllerRevisionResource, revision('w-unused'));
      world.server.put(controllerRevisionResource, revision('w-used'));
      await world.settle();
      assert.deepEqual(world.server.names(workflowRunResource), ['new']);
      const name = revisionName(workflow());
      assert.deepEqual(
        world.server.names(controllerRevisionResource).toSorted(),
        [name, 'w-used'].toSorted(),
      );
      const { status } = world.server.stored(workflowResource, key) ?? assert.fail();
      assert.deepEqual([status?.definition, status?.active, status?.observedGeneration], [name, 0, 3]);
    });
  });
});
