/** Attempts to gain permissions with a role or a binding. All of them fail. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';
import {
  binding,
  clusterRoleBindings,
  clusterRoles,
  named,
  outcomeOf,
  type RbacWorld,
  type Rule,
  roleBindingsIn,
  rolesIn,
  rule,
  startRbacWorld,
  user,
} from './rbac-world.ts';

const group = 'rbac.authorization.k8s.io';
const write = 'get,list,create,update,patch,delete';
const patchOf = (type: string) => ({ 'content-type': `application/${type}` });
const [roles, roleBindings] = [rolesIn('a'), roleBindingsIn('a')];

let world: RbacWorld;
before(async () => {
  world = await startRbacWorld();
  for (const name of ['a', 'b']) await world.make('/api/v1/namespaces', { metadata: { name } });
  // Bob may write roles and bindings of a, and may read the pods of a. Cid has these permissions in the whole
  // cluster.
  const own = [rule(`${write} roles,rolebindings`, group), rule('get,list pods')];
  await world.grant('a', 'bob', own, user('bob'));
  await world.grant(
    '',
    'cid',
    [rule(`${write} clusterroles,clusterrolebindings`, group), rule('get,list pods')],
    user('cid'),
  );
  await world.make(roles, { metadata: { name: 'strong' }, rules: [rule('get secrets')] });
  await world.make(roleBindings, binding('Role/strong', 'strong', user('zoe')));
});
after(() => world.stop());

const bob = named('bob');
const cid = named('cid');
async function as(
  who: typeof bob,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  await world.server.clock.until(world.server.cache.waitUntil(await world.server.store.currentRevision()));
  return outcomeOf(await world.server.call(method, path, body, { user: who, headers }));
}
const refused = /is attempting to grant RBAC permissions not currently held/;
const role = (name: string, ...rules: Rule[]) => ({
  apiVersion: `${group}/v1`,
  kind: 'Role',
  metadata: { name },
  rules,
});
const clusterRole = (name: string, rules: readonly Rule[], more: object = {}) => ({
  ...{ apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
  ...more,
});
const stored = async <T = KubeObject & { rules: Rule[] }>(path: string) =>
  (await world.server.call('GET', path)).json<T>();

describe('a role', () => {
  test('may grant the rights of its creator, and no more; the refusal lists the missing ones', async () => {
    assert.equal(await as(bob, 'POST', roles, role('fine', rule('get pods'))), 201);
    assert.equal(
      await as(bob, 'POST', roles, role('greedy', rule('get,watch pods,secrets'))),
      `roles.${group} "greedy" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n` +
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "watch"]}',
    );
    assert.equal(await as(bob, 'GET', `${roles}/greedy`), 404);
  });

  for (const [what, rules] of [
    ['every resource', [rule('get *')]],
    ['every verb', [rule('* pods')]],
    ['every group', [{ verbs: ['get'], apiGroups: ['*'], resources: ['pods'] }]],
    ['a subresource', [rule('get pods/log')]],
    ['one subresource of all resources', [rule('get */log')]],
    ['another group', [rule('get pods', 'apps')]],
    ['one secret', [rule('get secrets one')]],
    ['the right to create roles', [rule('escalate roles', group)]],
    ['the right to bind roles', [rule('bind clusterroles', group)]],
    ['the right to impersonate others', [rule('impersonate users')]],
  ] as const)
    test(`that grants ${what} is refused in every kind of write`, async () => {
      const greedy = role('fine', ...rules);
      const add = [{ op: 'add', path: '/rules/-', value: rules[0] }];
      const more = { rules: [rule('get pods'), ...rules] };
      for (const [method, path, body, headers] of [
        ['POST', roles, role('other', ...rules)],
        ['POST', `${roles}?dryRun=All`, role('other', ...rules)],
        ['POST', roles, { ...role('', ...rules), metadata: { generateName: 'x-' } }],
        ['PUT', `${roles}/other`, role('other', ...rules)],
        ['PUT', `${roles}/fine`, greedy],
        ['PUT', `${roles}/fine?dryRun=All`, greedy],
        ['PATCH', `${roles}/fine`, more, patchOf('merge-patch+json')],
        ['PATCH', `${roles}/fine`, more, patchOf('strategic-merge-patch+json')],
        ['PATCH', `${roles}/fine`, add, patchOf('json-patch+json')],
      ] as const)
        assert.match(`${await as(bob, method, path, body, headers)}`, refused, `${method} ${path}`);
      // The same as server-side apply, and as a status write, although roles have no status.
      const apply = await as(
        bob,
        'PATCH',
        `${roles}/applied?fieldManager=x`,
        role('applied', ...rules),
        patchOf('apply-patch+yaml'),
      );
      assert.match(`${apply}`, refused);
      assert.match(
        `${await as(bob, 'PUT', `${roles}/fine/status`, greedy)}`,
        /cannot update resource "roles\/status"/,
      );
      assert.deepEqual((await stored(`${roles}/fine`)).rules, [rule('get pods')]);
      for (const name of ['other', 'applied']) assert.equal(await as(bob, 'GET', `${roles}/${name}`), 404);
    });

  test('with more rights than its writer has may only lose rights, or change in finalizers and owners', async () => {
    const strong = `${roles}/strong`;
    const change = (metadata: object) => as(bob, 'PATCH', strong, { metadata }, patchOf('merge-patch+json'));
    for (const metadata of [{ labels: { x: 'y' } }, { annotations: { x: 'y' } }])
      assert.match(`${await change(metadata)}`, refused);
    assert.equal(await change({ finalizers: ['example.com/x'] }), 200);
    assert.equal(await change({ finalizers: [], ownerReferences: [] }), 200);
    assert.match(`${await change({ finalizers: ['example.com/x'], labels: { x: 'y' } })}`, refused);
    assert.equal(await as(bob, 'PUT', strong, await stored(strong)), 200, 'nothing changes');
    assert.equal(
      await as(bob, 'PATCH', strong, { rules: [] }, patchOf('merge-patch+json')),
      200,
      'it only gets weaker',
    );
  });

  test('can get any rights from a user with the verb escalate on its name in its namespace', async () => {
    await world.grant(
      'a',
      'ed',
      [rule(write.concat(' roles'), group), rule('escalate roles lifted', group)],
      user('ed'),
    );
    const ed = named('ed');
    const lifted = role('lifted', rule('* *'));
    assert.match(
      `${await as(ed, 'POST', roles, lifted)}`,
      refused,
      'a rule with resource names does not apply to a creation',
    );
    await world.make(roles, role('lifted'));
    assert.equal(await as(ed, 'PUT', `${roles}/lifted`, lifted), 200);
    assert.match(`${await as(ed, 'POST', roles, role('unlifted', rule('* *')))}`, refused);
    await world.grant('a', 'eve', [rule('create,escalate roles', group)], user('eve'));
    assert.equal(await as(named('eve'), 'POST', roles, role('any', rule('* *'))), 201);
    assert.match(
      `${await as(named('eve'), 'POST', rolesIn('b'), role('any', rule('* *')))}`,
      /cannot create/,
    );
  });

  test('with long lists is refused without expanding them to all combinations', async () => {
    const words = (letter: string) => Array.from({ length: 3000 }, (_, i) => `${letter}${i}`);
    const huge = { verbs: words('v'), apiGroups: ['x'], resources: words('r'), resourceNames: words('n') };
    assert.match(
      `${await as(bob, 'POST', roles, role('huge', huge))}`,
      /cannot be shown to hold these permissions/,
    );
  });

  test('cannot grant rights that its creator has only in another namespace', async () => {
    await world.make(roleBindingsIn('b'), binding('ClusterRole/view', 'bob', user('bob')));
    await world.grant('b', 'maker', [rule('create roles', group)], user('bob'));
    assert.match(`${await as(bob, 'POST', rolesIn('b'), role('x', rule('get pods')))}`, refused);
  });
});

describe('a ClusterRole', () => {
  test('grants only rights that its creator has in the whole cluster', async () => {
    assert.equal(await as(cid, 'POST', clusterRoles, clusterRole('ok', [rule('get pods')])), 201);
    for (const rules of [
      [rule('get secrets')],
      [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
      [{ verbs: ['get'], nonResourceURLs: ['/api*'] }],
    ])
      assert.match(`${await as(cid, 'POST', clusterRoles, clusterRole('more', rules))}`, refused);
    const discovery = [{ verbs: ['get'], nonResourceURLs: ['/api/v1', '/healthz'] }];
    assert.equal(
      await as(cid, 'POST', clusterRoles, clusterRole('paths', discovery)),
      201,
      'rights that all users have',
    );
  });

  test('is not aggregated into another by a label, unless its creator has all its rights', async () => {
    const labels = { [`${group}/aggregate-to-admin`]: 'true' };
    const strong = { ...clusterRole('into', [rule('get secrets')]), metadata: { name: 'into', labels } };
    assert.match(`${await as(cid, 'POST', clusterRoles, strong)}`, refused);
    // An existing role with more permissions: the label alone would grant them to every administrator of a
    // namespace.
    const headers = patchOf('merge-patch+json');
    for (const name of ['cluster-admin', 'system:node', 'system:controller:namespace-controller'])
      assert.match(
        `${await as(cid, 'PATCH', `${clusterRoles}/${name}`, { metadata: { labels } }, headers)}`,
        refused,
      );
  });

  test('with an aggregation rule may be created only by a user with all rights', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { gather: 'true' } }] };
    const gathers = clusterRole('gathers', [], { aggregationRule });
    const need = `clusterroles.${group} "gathers" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
    assert.equal(await as(cid, 'POST', clusterRoles, gathers), need);
    assert.equal(await as(cid, 'PUT', `${clusterRoles}/gathers`, gathers), need);
    assert.equal(
      await as(cid, 'PATCH', `${clusterRoles}/ok`, { aggregationRule }, patchOf('merge-patch+json')),
      need.replace('gathers', 'ok'),
    );
    await world.make(clusterRoles, gathers);
    // Cid may not remove the aggregation rule either: the gathered rules could then not be revoked in the
    // other roles.
    assert.equal(await as(cid, 'PUT', `${clusterRoles}/gathers`, clusterRole('gathers', [])), need);
    await world.make(clusterRoleBindings, binding('ClusterRole/cluster-admin', 'root', user('root')));
    assert.equal(await as(named('root'), 'PUT', `${clusterRoles}/gathers`, clusterRole('gathers', [])), 200);
  });

  test('for all resources allows its user to grant further rights only if its verbs include escalate', async () => {
    await world.grant('', 'nearly', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], user('ned'));
    // Ned may escalate, since `escalate` is one of the verbs. He does not gain the paths by that, but no rule
    // prevents him from writing them.
    assert.equal(
      await as(
        named('ned'),
        'POST',
        clusterRoles,
        clusterRole('all', [{ verbs: ['*'], nonResourceURLs: ['*'] }]),
      ),
      201,
    );
    await world.grant(
      '',
      'written',
      [{ verbs: write.split(','), apiGroups: ['*'], resources: ['*'] }],
      user('nan'),
    );
    for (const rules of [
      [{ verbs: ['get'], nonResourceURLs: ['*'] }],
      [rule('* pods')],
      [rule('escalate clusterroles', group)],
    ])
      assert.match(`${await as(named('nan'), 'POST', clusterRoles, clusterRole('most', rules))}`, refused);
    assert.equal(
      await as(named('nan'), 'POST', clusterRoles, clusterRole('some', [rule(`${write} *`)])),
      201,
    );
  });
});

describe('a binding', () => {
  const self = (to: string, name = 'mine') => binding(to, name, user('bob'));

  test('grants a role if its author has all rights of the role', async () => {
    await world.make(roles, role('pods', rule('list pods')));
    assert.equal(await as(bob, 'POST', roleBindings, binding('Role/pods', 'ann', user('ann'))), 201);
    for (const to of ['Role/strong-again', 'ClusterRole/admin-not-there'])
      assert.equal(
        await as(bob, 'POST', roleBindings, self(to)),
        404,
        'the contents of the missing role are unknown',
      );
    await world.make(roles, role('strong-again', rule('get secrets')));
    for (const to of ['Role/strong-again', 'ClusterRole/cluster-admin', 'ClusterRole/system:node']) {
      assert.match(`${await as(bob, 'POST', roleBindings, self(to))}`, refused);
      assert.match(`${await as(bob, 'POST', `${roleBindings}?dryRun=All`, self(to))}`, refused);
      assert.match(`${await as(bob, 'PUT', `${roleBindings}/mine`, self(to))}`, refused);
    }
    assert.equal(await as(bob, 'GET', `${roleBindings}/mine`), 404);
    assert.match(
      `${await as(cid, 'POST', clusterRoleBindings, binding('ClusterRole/cluster-admin', 'me', user('cid')))}`,
      refused,
    );
  });

  test('accepts further subjects only from a user with its rights', async () => {
    const strong = `${roleBindings}/strong`;
    await world.server.call(
      'PATCH',
      `${roles}/strong`,
      { rules: [rule('get secrets')] },
      { headers: patchOf('merge-patch+json') },
    );
    const subjects = [user('zoe'), { ...user('bob'), apiGroup: group }];
    for (const [type, body] of [
      ['merge-patch+json', { subjects }],
      ['strategic-merge-patch+json', { subjects }],
      ['json-patch+json', [{ op: 'add', path: '/subjects/-', value: subjects[1] }]],
      ['merge-patch+json', { metadata: { labels: { x: 'y' } } }],
    ] as const)
      assert.match(`${await as(bob, 'PATCH', strong, body, patchOf(type))}`, refused);
    assert.match(`${await as(bob, 'PUT', strong, binding('Role/strong', 'strong', user('bob')))}`, refused);
    assert.equal(
      await as(bob, 'PATCH', strong, { metadata: { ownerReferences: [] } }, patchOf('merge-patch+json')),
      200,
    );
    // Another role requires another binding.
    assert.equal(await as(bob, 'PUT', strong, binding('Role/fine', 'strong', user('bob'))), 422);
    const { subjects: left } = await stored<{ subjects: { name: string }[] }>(strong);
    assert.deepEqual(
      left.map(({ name }) => name),
      ['zoe'],
    );
  });

  test('may be created by a user with the verb bind on the role, in the namespace of that right', async () => {
    const rules = [
      rule('create,update,patch rolebindings', group),
      rule('bind clusterroles view,cluster-admin', group),
    ];
    await world.grant('a', 'ben', rules, user('ben'));
    const ben = named('ben');
    assert.equal(
      await as(ben, 'POST', roleBindings, binding('ClusterRole/cluster-admin', 'by-ben', user('x'))),
      201,
    );
    assert.match(
      `${await as(ben, 'POST', roleBindings, binding('ClusterRole/system:node', 'no', user('ben')))}`,
      refused,
    );
    assert.match(
      `${await as(ben, 'POST', roleBindings, binding('Role/strong', 'no', user('ben')))}`,
      refused,
    );
    assert.match(
      `${await as(ben, 'POST', roleBindingsIn('b'), binding('ClusterRole/view', 'no', user('ben')))}`,
      /cannot create/,
    );
    assert.match(
      `${await as(ben, 'POST', clusterRoleBindings, binding('ClusterRole/view', 'no', user('ben')))}`,
      /cannot create/,
    );
  });

  test('to a missing role is named as an error when a grant is refused', async () => {
    await world.make(roleBindings, binding('Role/nowhere', 'broken', user('bob')));
    assert.match(
      `${await as(bob, 'POST', roles, role('x', rule('get secrets')))}`,
      /; resolution errors: role\.rbac\.authorization\.k8s\.io "nowhere" not found$/,
    );
  });
});

test('only the group system:masters is exempt, and no similar name', async () => {
  const greedy = role('anything', rule('* *'));
  for (const who of [
    named('system:masters'),
    named('bob', 'system:masterss'),
    named('bob', 'SYSTEM:MASTERS'),
  ])
    assert.match(`${await as(who, 'POST', roles, greedy)}`, /forbidden/);
  assert.equal(await as(named('root', 'system:masters'), 'POST', roles, greedy), 201);
});

test('a right that was just removed cannot be granted, although the cache still shows it', async () => {
  let lagging: LaggingStore | undefined;
  const late = await startRbacWorld({
    wrapStore: (store) => {
      lagging = new LaggingStore(store);
      return lagging.store;
    },
  });
  assert.ok(lagging);
  await late.grant('default', 'maker', [rule('create roles', group)], user('bob'));
  await late.grant('default', 'brief', [rule('get configmaps')], user('bob'));
  const give = (name: string) =>
    late.server.call('POST', rolesIn('default'), role(name, rule('get configmaps')), { user: bob });
  assert.equal((await give('given')).status, 201);
  lagging.holdEvents();
  await late.server.call('DELETE', `${roleBindingsIn('default')}/brief`);
  const answer = give('given-again');
  await late.server.clock.elsewhere(new Promise((resolve) => setImmediate(resolve)));
  lagging.releaseEvents();
  assert.match(`${outcomeOf(await late.server.clock.until(answer))}`, refused);
  await late.stop();
});
