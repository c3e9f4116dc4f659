/** The ControllerRevisions that hold the definitions of workflows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { newForbidden } from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import type { Workflow } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  keepDefinition,
  revisionName,
} from '../../../../../src/features/workflows/controller/definitions.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const definition = { StartAt: 'A', States: { A: { Type: 'Succeed' } } };
const workflow = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow' },
  metadata: meta('w', { namespace: 'shop', generation: 7 }),
  spec: { definition },
} as unknown as Workflow;

function world() {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  const { client } = captured.context ?? assert.fail();
  const { lister } = server.seen.informerFor(controllerRevisionResource);
  return { server, keep: (of: Workflow = workflow) => keepDefinition(client, lister, of) };
}

describe('the revision of a definition', () => {
  it('has the name of the workflow and ten hexadecimal digits', () => {
    assert.match(revisionName(workflow), /^w-[0-9a-f]{10}$/);
  });
  it('is an object that its workflow controls, with its label, generation and definition', async () => {
    const { server, keep } = world();
    const kept = await keep();
    assert.deepEqual(kept, { name: revisionName(workflow), definition });
    const made = server.stored(controllerRevisionResource, `shop/${kept.name}`) ?? assert.fail();
    const { name, namespace, labels, ownerReferences } = made.metadata;
    assert.deepEqual([name, namespace, labels], [kept.name, 'shop', { 'minik8s.io/workflow': 'w' }]);
    assert.deepEqual(ownerReferences, [
      {
        ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', name: 'w', uid: 'uid-w' },
        ...{ controller: true, blockOwnerDeletion: true },
      },
    ]);
    const { apiVersion, kind, data, revision } = made;
    assert.deepEqual([apiVersion, kind, data, revision], ['apps/v1', 'ControllerRevision', definition, 7]);
  });
  it('has the number 1 for a workflow without a generation', async () => {
    const { server, keep } = world();
    await keep({ ...workflow, metadata: meta('w') });
    assert.equal(server.all(controllerRevisionResource)[0]?.revision, 1);
  });
  it('is not read from the server if the cache has it', async () => {
    const { server, keep } = world();
    await keep();
    server.sync(controllerRevisionResource);
    server.asked.length = 0;
    assert.equal((await keep()).name, revisionName(workflow));
    assert.deepEqual(server.asked, []);
  });
  it('is an error if its creation is forbidden, and no other revision is used', async () => {
    const { server, keep } = world();
    const refused = newForbidden(controllerRevisionResource, 'x', 'no');
    server.refuse = (verb) => (verb === 'create' ? refused : undefined);
    await assert.rejects(keep(), refused);
  });
  it('is named in the error if it contains another definition', async () => {
    const { server, keep } = world();
    const { name } = await keep();
    server.edit(controllerRevisionResource, `shop/${name}`, (one) => ({ ...one, data: {} }));
    await assert.rejects(keep(), {
      message: `ControllerRevision shop/${name} holds another definition: delete it`,
    });
  });
});
