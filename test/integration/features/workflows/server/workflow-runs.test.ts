/**
 * Fields of runs that users may write: what to run, and that the run should stop. The cluster writes all
 * other fields.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rulesFrom } from '../../../../../src/api/rbac/v1/rule-rows.ts';
import type { UserInfo } from '../../../../../src/apiserver/request/user.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { workflowRoles } from '../../../../../src/features/workflows/roles.ts';
import type { TestServer } from '../../../../fixtures/api-server.ts';
import { type RbacWorld, type Rule, startRbacWorld, user } from '../../../rbac/rbac-world.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const runs = `${group}/workflowruns`;
const merge = { 'content-type': 'application/merge-patch+json' };

let world: RbacWorld;
let server: TestServer;
before(async () => {
  world = await startRbacWorld();
  server = world.server;
  const { view, edit } = workflowRoles;
  await world.grant('default', 'editor', rulesFrom([...view, ...edit]) as Rule[], user('jane'));
});
after(() => world.stop());

const jane: UserInfo = { name: 'jane', groups: ['system:authenticated'] };
const as = async (method: string, path: string, body: object, headers: Record<string, string> = {}) => {
  const request = new Request(`https://apiserver${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answer = await server.app.fetch(request, { user: jane });
  return { status: answer.status, text: await answer.text() };
};

const status = { phase: 'Succeeded', output: 'forged', historyCount: 1 };

describe('a user with the role edit', () => {
  it('creates a run, without the status of its body', async () => {
    const made = await as('POST', runs, { metadata: { name: 'own' }, spec: { workflow: 'w' }, status });
    assert.equal(made.status, 201, made.text);
    assert.equal((JSON.parse(made.text) as WorkflowRun).status, undefined);
  });
  it('cannot set the result or the history of a run', async () => {
    assert.equal((await as('PATCH', `${runs}/own/status`, { status }, merge)).status, 403);
    assert.equal((await as('PATCH', `${runs}/own`, { status }, merge)).status, 200);
    const found = (await server.call('GET', `${runs}/own`)).json<WorkflowRun>();
    assert.equal(found.status, undefined);
    const history = { metadata: { name: 'own-0001' }, spec: { run: 'own', entries: [] } };
    assert.equal((await as('POST', `${group}/workflowhistories`, history)).status, 403);
  });
  it('cannot make a run that is the task of another', async () => {
    const { uid } = (await server.call('GET', `${runs}/own`)).json<WorkflowRun>().metadata;
    const parent = { namespace: 'default', name: 'own', uid, task: 'A', depth: 1 };
    const { status: refused, text } = await as('POST', runs, {
      metadata: { name: 'child' },
      spec: { workflow: 'w', parent },
    });
    assert.equal(refused, 403, text);
    assert.match(text, /spec\.parent is set by the cluster/);
    assert.equal((await as('PATCH', `${runs}/own`, { spec: { parent } }, merge)).status, 422);
  });
  it('cannot set the caller of a run', async () => {
    const annotations = { 'minik8s.io/called-by': 'bob' };
    const forged = { metadata: { name: 'forged', annotations }, spec: { workflow: 'w' } };
    const made = await as('POST', runs, forged);
    assert.equal(made.status, 403, made.text);
    assert.match(made.text, /minik8s\.io\/called-by is set by the cluster/);
    assert.equal((await as('PATCH', `${runs}/own`, { metadata: { annotations } }, merge)).status, 403);
  });
  it('cannot write the definition with which runs continue', async () => {
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
    const body = { metadata: { name: 'w-1' }, data: { StartAt: 'A' }, revision: 1 };
    assert.equal((await as('POST', revisions, body)).status, 403);
  });
});
