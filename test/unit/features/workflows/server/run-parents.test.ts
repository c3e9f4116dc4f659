/** Table of the users who may set the parent and the caller of a run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isForbidden, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../../src/apiserver/admission/plugin.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { runParents } from '../../../../../src/features/workflows/server/run-parents.ts';
import { meta } from '../../../controllers/objects.ts';

const parent = { namespace: 'default', name: 'above', uid: 'u', task: '0-0', depth: 1 };
const run = (spec: object = {}, caller?: string) => ({
  metadata: meta('r', caller === undefined ? {} : { annotations: { 'minik8s.io/called-by': caller } }),
  spec: { workflow: 'w', ...spec },
});
const controller = { name: 'system:serviceaccount:kube-system:workflow-controller', groups: [] };
const user = { name: 'alice', groups: ['system:authenticated'] };
const admin = { name: 'admin', groups: ['system:masters'] };
const why = async (over: object): Promise<string | undefined> => {
  const { group, plural } = workflowRunResource;
  const request = { operation: 'create', definition: { group, plural }, name: 'r', subresource: '', user };
  try {
    await runParents.validate?.({ ...request, ...over } as unknown as Admission);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof StatusError && isForbidden(error));
    return error.message;
  }
};
const refused = (what: string) => `workflowruns.minik8s.io "r" is forbidden: ${what}`;
const ofParent = refused('spec.parent is set by the cluster: leave it out');
const ofCaller = refused('the annotation minik8s.io/called-by is set by the cluster: leave it as it is');

describe('the parent of a run', () => {
  for (const [what, over, reason] of [
    ['may not be set by a user', { object: run({ parent }) }, ofParent],
    ['may not be set by an administrator', { object: run({ parent }), user: admin }, ofParent],
    [
      'may not be set by an account of that name in another namespace',
      {
        object: run({ parent }),
        user: { ...user, name: 'system:serviceaccount:default:workflow-controller' },
      },
      ofParent,
    ],
    ['may be set by the controller of workflows', { object: run({ parent }), user: controller }, undefined],
    ['may be absent', { object: run() }, undefined],
    [
      'may be kept by an update',
      { operation: 'update', object: run({ parent }), old: run({ parent }) },
      undefined,
    ],
    [
      'is not checked in a write of the status',
      { object: run({ parent }), subresource: 'status' },
      undefined,
    ],
  ] as const)
    it(what, async () => assert.equal(await why(over), reason));
});

describe('the caller of a run', () => {
  const update = { operation: 'update' };
  for (const [what, over, reason] of [
    ['may not be set by a user', { object: run({}, 'bob') }, ofCaller],
    ['may not be set by the controller', { object: run({}, 'bob'), user: controller }, ofCaller],
    ['may not be added', { ...update, object: run({}, 'bob'), old: run() }, ofCaller],
    ['may not be changed', { ...update, object: run({}, 'bob'), old: run({}, 'alice') }, ofCaller],
    ['may not be removed', { ...update, object: run(), old: run({}, 'alice') }, ofCaller],
    ['may be kept', { ...update, object: run({}, 'bob'), old: run({}, 'bob') }, undefined],
    ['may be set by the server', { object: run({}, 'bob'), user: admin }, undefined],
    ['is not checked in a write of the status', { object: run({}, 'bob'), subresource: 'status' }, undefined],
    ['is not checked in a deletion', { operation: 'delete', old: run({}, 'bob') }, undefined],
    [
      'is only an annotation for other kinds of the group',
      { object: run({}, 'bob'), definition: { group: 'minik8s.io', plural: 'workflows' } },
      undefined,
    ],
    [
      'is only an annotation for kinds of other groups',
      { object: run({}, 'bob'), definition: { group: 'other.io', plural: 'workflowruns' } },
      undefined,
    ],
  ] as const)
    it(what, async () => assert.equal(await why(over), reason));
});

it('the parent and the caller are reserved by a plugin with a name', () =>
  assert.equal(runParents.name, 'WorkflowRunParents'));
