/** Authorization by roles and bindings, request by request. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import {
  binding,
  clusterRoleBindings,
  clusterRoles,
  named,
  outcomeOf,
  type RbacWorld,
  roleBindingsIn,
  rolesIn,
  rule,
  startRbacWorld,
  user,
} from './rbac-world.ts';

const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
const account = (name: string, namespace: string): UserInfo =>
  named(
    `system:serviceaccount:${namespace}:${name}`,
    'system:serviceaccounts',
    `system:serviceaccounts:${namespace}`,
  );

describe('roles', () => {
  let world: RbacWorld;
  const ask = async (who: UserInfo, method: string, path: string, body?: unknown) =>
    outcomeOf(await world.server.call(method, path, body, { user: who }));

  before(async () => {
    world = await startRbacWorld();
    for (const name of ['a', 'b']) await world.make('/api/v1/namespaces', { metadata: { name } });
    await world.grant('a', 'reader', [rule('get,list pods')], user('ann'), {
      kind: 'Group',
      name: 'readers',
    });
    await world.grant('a', 'local', [rule('list pods')], { kind: 'ServiceAccount', name: 'bot' });
    await world.grant(
      '',
      'everywhere',
      [rule('list pods'), { verbs: ['get'], nonResourceURLs: ['/metrics*'] }],
      user('cid'),
      {
        kind: 'ServiceAccount',
        name: 'bot',
        namespace: 'b',
      },
    );
    await world.make(roleBindingsIn('b'), binding('ClusterRole/everywhere', 'here', user('dan')));
  });
  after(() => world.stop());

  test('a role applies to its namespace, its verbs and its subjects', async () => {
    for (const who of [named('ann'), named('x', 'readers')]) {
      assert.equal(await ask(who, 'GET', pods('a')), 200);
      assert.equal(await ask(who, 'GET', `${pods('a')}/none`), 404);
      assert.match(`${await ask(who, 'GET', `${pods('a')}?watch=true`)}`, /cannot watch/);
      assert.match(`${await ask(who, 'GET', pods('b'))}`, /cannot list .* in the namespace "b"$/);
      assert.match(`${await ask(who, 'GET', '/api/v1/pods')}`, /cannot list .* at the cluster scope$/);
      assert.match(`${await ask(who, 'GET', `${pods('a')}/none/log`)}`, /cannot get resource "pods\/log"/);
      assert.match(`${await ask(who, 'DELETE', pods('a'))}`, /cannot deletecollection/);
    }
    for (const who of [named('readers'), named('x', 'ann'), named('Ann'), named('x', 'readers ')])
      assert.match(`${await ask(who, 'GET', pods('a'))}`, /cannot list/);
  });

  test('an account of a binding without a namespace is in the namespace of the binding', async () => {
    assert.equal(await ask(account('bot', 'a'), 'GET', pods('a')), 200);
    assert.match(`${await ask(account('bot', 'a'), 'GET', pods('b'))}`, /cannot list/);
    assert.match(`${await ask(account('bot', 'c'), 'GET', pods('a'))}`, /cannot list/);
  });

  test('a ClusterRole applies to the cluster by a ClusterRoleBinding, and to a namespace by a RoleBinding', async () => {
    for (const who of [named('cid'), account('bot', 'b')]) {
      for (const path of ['/api/v1/pods', pods('a'), pods('none')])
        assert.equal(await ask(who, 'GET', path), 200);
      assert.equal(
        await ask(who, 'GET', '/metrics/x'),
        404,
        'the request is allowed, but the path does not exist',
      );
    }
    assert.equal(await ask(named('dan'), 'GET', pods('b')), 200);
    assert.match(`${await ask(named('dan'), 'GET', pods('a'))}`, /cannot list/);
    assert.match(`${await ask(named('dan'), 'GET', '/metrics')}`, /cannot get path "\/metrics"$/);
  });

  test('a Role in a namespace can grant rights to the Namespace object itself', async () => {
    await world.grant('a', 'spaces', [rule('get,delete namespaces')], user('eve'));
    assert.equal(await ask(named('eve'), 'GET', '/api/v1/namespaces/a'), 200);
    assert.match(
      `${await ask(named('eve'), 'GET', '/api/v1/namespaces/b')}`,
      /cannot get resource "namespaces" in API group "" in the namespace "b"$/,
    );
    assert.match(`${await ask(named('eve'), 'GET', '/api/v1/namespaces')}`, /cannot list/);
    assert.match(`${await ask(named('eve'), 'GET', '/api/v1/namespaces/a/status')}`, /namespaces\/status/);
  });

  test('resource names select single objects: a list needs a field selector, and no creation is allowed by name', async () => {
    await world.grant('a', 'one', [rule('* configmaps one')], user('fay'));
    const maps = '/api/v1/namespaces/a/configmaps';
    const map = (name: string) => ({ metadata: { name } });
    assert.match(`${await ask(named('fay'), 'POST', maps, map('one'))}`, /cannot create/);
    assert.equal(await ask(named('fay'), 'GET', `${maps}/one`), 404);
    assert.match(`${await ask(named('fay'), 'GET', `${maps}/two`)}`, /cannot get/);
    assert.match(`${await ask(named('fay'), 'GET', maps)}`, /cannot list/);
    assert.equal(await ask(named('fay'), 'GET', `${maps}?fieldSelector=metadata.name%3Done`), 200);
    assert.match(
      `${await ask(named('fay'), 'GET', `${maps}?fieldSelector=metadata.name!%3Dtwo`)}`,
      /cannot list/,
    );
    assert.match(`${await ask(named('fay'), 'DELETE', maps)}`, /cannot deletecollection/);
  });

  test('a missing role is the reason of the denial, and applies once it is created', async () => {
    const gus = named('gus');
    await world.make(roleBindingsIn('a'), binding('Role/late', 'late', user('gus')));
    await world.make(clusterRoleBindings, binding('ClusterRole/later', 'later', user('gus')));
    const refused =
      'pods is forbidden: User "gus" cannot list resource "pods" in API group "" in the namespace';
    assert.equal(
      await ask(gus, 'GET', pods('a')),
      `${refused} "a": RBAC: [clusterrole.rbac.authorization.k8s.io "later" not found, role.rbac.authorization.k8s.io "late" not found]`,
    );
    assert.equal(
      await ask(gus, 'GET', pods('b')),
      `${refused} "b": RBAC: clusterrole.rbac.authorization.k8s.io "later" not found`,
    );
    await world.make(rolesIn('a'), { metadata: { name: 'late' }, rules: [rule('list pods')] });
    assert.equal(await ask(gus, 'GET', pods('a')), 200);
    assert.match(`${await ask(gus, 'GET', pods('b'))}`, /cannot list/);
  });

  test('a right no longer applies once the event of its removal has arrived', async () => {
    const { server } = world;
    const settled = async () =>
      server.clock.until(server.cache.waitUntil(await server.store.currentRevision()));
    const hal = named('hal');
    await world.grant('', 'brief', [rule('list pods')], user('hal'));
    assert.equal(await ask(hal, 'GET', '/api/v1/pods'), 200);
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    await server.call('PATCH', `${clusterRoles}/brief`, { rules: [rule('list secrets')] }, merge);
    await settled();
    assert.match(`${await ask(hal, 'GET', '/api/v1/pods')}`, /cannot list/);
    assert.equal(await ask(hal, 'GET', '/api/v1/secrets'), 200);
    await server.call('PATCH', `${clusterRoleBindings}/brief`, { subjects: [user('ida')] }, merge);
    await settled();
    assert.match(`${await ask(hal, 'GET', '/api/v1/secrets')}`, /cannot list/);
    assert.equal(await ask(named('ida'), 'GET', '/api/v1/secrets'), 200);
    await server.call('DELETE', `${clusterRoleBindings}/brief`);
    await settled();
    assert.match(`${await ask(named('ida'), 'GET', '/api/v1/secrets')}`, /cannot list/);
  });

  test('administrators need no role, and no similar name has their rights', async () => {
    await world.server.call('DELETE', `${clusterRoleBindings}/cluster-admin`);
    assert.equal(await ask(named('root', 'system:masters'), 'GET', '/api/v1/secrets'), 200);
    for (const who of [named('system:masters'), named('x', 'system:Masters'), named('x', 'system:masters ')])
      assert.match(`${await ask(who, 'GET', '/api/v1/secrets')}`, /cannot list/);
  });
});

describe('all users', () => {
  let world: RbacWorld;
  before(async () => {
    world = await startRbacWorld();
  });
  after(() => world.stop());
  const review = (name: string, body = { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } }) =>
    world.server.call('POST', `/apis/authorization.k8s.io/v1/${name}`, body, { user: named('bob') });

  test('may read discovery and review their own rights', async () => {
    for (const path of [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/apps/v1',
      '/openapi/v2',
      '/openapi/v3/api/v1',
      '/version',
    ]) {
      const answer = await world.server.call('GET', path, undefined, { user: named('bob') });
      assert.equal(answer.status, 200, path);
    }
    for (const path of ['/', '/metrics', '/apix', '/x/api', '/logs/']) {
      const answer = await world.server.call('GET', path, undefined, { user: named('bob') });
      assert.equal(answer.status, 403, path);
    }
    assert.equal((await review('selfsubjectaccessreviews')).status, 201);
    assert.equal((await review('subjectaccessreviews')).status, 403);
    assert.equal((await world.server.call('POST', '/api', {}, { user: named('bob') })).status, 403);
  });

  test('lose the right to discovery and reviews if an administrator removes it', async () => {
    const { server } = world;
    await server.call('DELETE', `${clusterRoleBindings}/system:discovery`);
    await server.call('DELETE', `${clusterRoleBindings}/system:basic-user`);
    await server.clock.until(server.cache.waitUntil(await server.store.currentRevision()));
    assert.equal((await server.call('GET', '/apis', undefined, { user: named('bob') })).status, 403);
    assert.equal((await review('selfsubjectaccessreviews')).status, 403);
  });
});
