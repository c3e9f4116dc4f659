/** Access to triggers and their events by the default roles. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { World } from './world.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
const user = (name: string) => ({ name, groups: ['system:authenticated'] });
const merge = { 'content-type': 'application/merge-patch+json' };

const world = new World('127.0.33');
after(() => world.end());
before(async () => {
  await world.start();
  for (const role of ['view', 'edit', 'admin']) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: role }];
    const answer = await world.call('POST', rbac, { metadata: { name: role }, roleRef, subjects });
    assert.equal(answer.status, 201, answer.text);
  }
  const mayRead = async (role: string, path: string) =>
    (await world.call('GET', group + path, undefined, { user: user(role) })).status === 200;
  const readable = [
    ['view', '/triggers'],
    ['edit', '/triggers'],
    ['edit', '/triggerevents'],
    ['admin', '/triggers'],
    ['admin', '/triggerevents'],
  ] as const;
  // A role gets its rules in several steps.
  await world.eventually('the roles are aggregated', async () => {
    const answers = await Promise.all(readable.map(([role, path]) => mayRead(role, path)));
    return answers.every(Boolean);
  });
  const spec = { target: { name: 'f' }, http: { path: '/a' } };
  assert.equal(
    (await world.call('POST', `${group}/triggers`, { metadata: { name: 't' }, spec })).status,
    201,
  );
  const event = { trigger: 't', id: '1', type: 't', source: '/s', time: '2026-01-01T00:00:00Z' };
  const made = await world.call('POST', `${group}/triggerevents`, { metadata: { name: 'e' }, spec: event });
  assert.equal(made.status, 201, made.text);
});

const draft = {
  metadata: { generateName: 'x-' },
  spec: { target: { name: 'f' }, cron: { schedule: '@daily' } },
};
const event = {
  metadata: { generateName: 'x-' },
  spec: { trigger: 't', id: '1', type: 't', source: '/s', time: '2026-01-01T00:00:00Z' },
};

const attempts: readonly (readonly [
  title: string,
  method: string,
  path: string,
  body: unknown,
  who: readonly string[],
])[] = [
  ['read triggers', 'GET', '/triggers', undefined, ['view', 'edit', 'admin']],
  ['make triggers', 'POST', '/triggers', draft, ['edit', 'admin']],
  ['write the status of a trigger', 'PATCH', '/triggers/t/status', { status: { delivered: 9 } }, []],
  ['send a request to a trigger', 'POST', '/triggers/t/invoke', {}, ['edit', 'admin']],
  ['read events, which contain objects', 'GET', '/triggerevents', undefined, ['edit', 'admin']],
  ['make events', 'POST', '/triggerevents', event, []],
  ['replay events', 'PATCH', '/triggerevents/e', { spec: { replays: 1 } }, ['edit', 'admin']],
  ['write the status of events', 'PATCH', '/triggerevents/e/status', { status: { attempts: 9 } }, []],
  ['delete events', 'DELETE', '/triggerevents/e?dryRun=All', undefined, ['edit', 'admin']],
];

describe('the right to', () => {
  for (const [title, method, path, body, who] of attempts)
    it(title, async () => {
      const passed: string[] = [];
      for (const name of ['nobody', 'view', 'edit', 'admin', 'system:node:n1']) {
        const headers = method === 'PATCH' ? merge : {};
        const { status, text } = await world.call(method, group + path, body, { user: user(name), headers });
        assert.ok([200, 201, 202, 403].includes(status), text);
        if (status !== 403) passed.push(name);
      }
      assert.deepEqual(passed, who);
    });
});

it('the account of the controller has exactly the rights that it needs', async () => {
  const account = {
    name: 'system:serviceaccount:kube-system:trigger-controller',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  };
  const may = async (path: string) => (await world.call('GET', path, undefined, { user: account })).status;
  assert.equal(await may('/apis/minik8s.io/v1/triggers'), 200);
  assert.equal(await may('/api/v1/secrets'), 403);
  assert.equal(await may('/api/v1/pods'), 403);
});
