/** A user is created with a kubeconfig, has the role that was granted, and loses it. */
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ClusterRoleBinding, RoleBinding } from '../../../src/api/rbac/v1/types.gen.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { userCommand } from '../../../src/roles/user.ts';
import { ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { runRoleCommand } from '../../fixtures/role-command.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
let server: HttpsTestServer;
let cluster: Cluster;
let kubeconfig: string;

before(async () => {
  server = await startHttpsTestServer({ clock: systemClock });
  cluster = await startCluster({ server, authority: server.authority });
  kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  for (const name of ['reader', 'view']) await role(`${rbac}/clusterroles`, 'ClusterRole', name);
  await role(`${rbac}/namespaces/default/roles`, 'Role', 'reader');
});
after(() => cluster.stop());

async function role(path: string, kind: string, name: string): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
  const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name }, rules };
  // The cluster may have the object from the beginning.
  assert.ok([201, 409].includes((await server.call('POST', path, body)).status));
}

const user = (...args: readonly string[]) => runRoleCommand('user', userCommand, kubeconfig, args);

const at = (name: string) => join(server.directory, name);
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
const bindingOf = async (path: string) =>
  (await server.call('GET', `${rbac}/${path}`)).json<KubeObject & (ClusterRoleBinding | RoleBinding)>();

describe('minik8s user', () => {
  it('creates a user with their own certificate', async () => {
    const file = at('alice.kubeconfig');
    const made = await user(
      'create',
      'alice',
      '--group=dev',
      '--group',
      'ops',
      '--role',
      'view',
      '--file',
      file,
    );
    assert.equal(made.status, 0, made.err);
    assert.doesNotMatch(made.err, /no role/);
    const [granted, until] = made.out.trimEnd().split('\n');
    assert.equal(granted, 'clusterrolebinding.rbac.authorization.k8s.io/user:alice:view created');
    assert.match(
      until ?? '',
      /^user alice can authenticate until \d{4}-\d\d-\d\dT[\d:]+Z with \/.*alice\.kubeconfig$/,
    );
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const { out } = await ctlFor(file)(['auth', 'whoami']);
    assert.match(out, /^Username +alice$/m);
    assert.match(out, /^Groups +\[dev ops system:authenticated\]$/m);
    const { roleRef, subjects } = await bindingOf('clusterrolebindings/user:alice:view');
    assert.deepEqual([roleRef.kind, roleRef.name], ['ClusterRole', 'view']);
    assert.deepEqual(subjects, [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]);
  });

  it('grants a role in one namespace, and prefers a Role there to a ClusterRole', async () => {
    const [own, other] = [at('bob.conf'), at('bob2.conf')];
    const made = await user('create', 'bob', '-n', 'default', '--role', 'reader', '--file', own);
    assert.match(made.out, /^rolebinding\.rbac\.authorization\.k8s\.io\/user:bob:reader created$/m);
    const { roleRef } = await bindingOf('namespaces/default/rolebindings/user:bob:reader');
    assert.equal(roleRef.kind, 'Role');
    assert.match(await readFile(own, 'utf8'), /namespace: default/);
    const again = await user('create', 'bob', '-n', 'kube-system', '--role', 'reader', '--file', other);
    assert.equal(again.status, 0, again.err);
    assert.equal(
      (await bindingOf('namespaces/kube-system/rolebindings/user:bob:reader')).roleRef.kind,
      'ClusterRole',
    );
  });

  it('lets the user act as the role allows, only there, until the role is revoked', async () => {
    const file = at('frank');
    await user('create', 'frank', '-n', 'default', '--role', 'reader', '--file', file);
    const frank = ctlFor(file);
    const may = async (...args: string[]) => (await frank(args)).status === 0;
    await cluster.eventually('frank may read', () => may('get', 'pods'));
    assert.equal(await may('get', 'pods', '-n', 'kube-system'), false);
    assert.equal(await may('get', 'configmaps'), false);
    assert.equal((await user('delete', 'frank')).status, 0);
    await cluster.eventually('frank may not any more', async () => !(await may('get', 'pods')));
    assert.match((await frank(['get', 'pods'])).err, /User "frank" cannot list resource "pods"/);
  });

  it('creates another certificate for an existing user', async () => {
    const made = await user('create', 'alice', '--role', 'view', '--ttl', '1h', '--file', at('alice2'));
    assert.match(made.out, /user:alice:view unchanged/);
    const until = Date.parse(/until (\S+)/.exec(made.out)?.[1] ?? '');
    assert.ok(Math.abs(until - Date.now() - 3_600_000) < 120_000, made.out);
  });

  it('warns about a user without a role, and the command in the warning grants one', async () => {
    const { status, err } = await user('create', 'carol', '--file', at('carol'));
    assert.equal(status, 0);
    const [, command = ''] =
      /^Warning: user carol has no role: grant one with minik8s user (.*)\n$/.exec(err) ?? assert.fail(err);
    const granted = await user(...command.replace('ROLE', 'view').split(' '));
    const title = 'clusterrolebinding.rbac.authorization.k8s.io/user:carol:view';
    assert.deepEqual(granted, { status: 0, out: `${title} created\n`, err: '' });
    const carol = ctlFor(at('carol'));
    await cluster.eventually('carol may read', async () => (await carol(['get', 'pods', '-A'])).status === 0);
    assert.equal((await user('delete', 'carol')).out, `${title} deleted\n`);
  });

  it('rejects a role that does not exist, a missing name and a missing --role', async () => {
    for (const [args, message] of [
      [
        ['carol', '--role', 'nosuch'],
        /^error: there is no ClusterRole "nosuch"; minik8s ctl get clusterroles lists them\n$/,
      ],
      [['carol'], /--role is required/],
      [['--role', 'view'], /give one name/],
    ] as const) {
      const { status, out, err } = await user('grant', ...args);
      assert.deepEqual([status > 0, out], [true, ''], err);
      assert.match(err, message);
    }
  });

  it('lists users with their roles, and revokes the roles', async () => {
    assert.equal(
      (await user('list')).out.replaceAll(/ +$/gm, ''),
      [
        'USER    ROLE                 NAMESPACE',
        'alice   ClusterRole/view     <all>',
        'bob     ClusterRole/reader   kube-system',
        'bob     Role/reader          default',
        '',
      ].join('\n'),
    );
    const gone = await user('delete', 'bob', 'nobody');
    assert.equal(gone.status, 1);
    assert.deepEqual(gone.out.split('\n').filter(Boolean), [
      'rolebinding.rbac.authorization.k8s.io/user:bob:reader deleted',
      'rolebinding.rbac.authorization.k8s.io/user:bob:reader deleted',
    ]);
    assert.match(gone.err, /user nobody has no role/);
    assert.doesNotMatch((await user('list')).out, /bob/);
    assert.equal((await user('delete', 'alice')).status, 0);
    assert.equal((await user('list')).err, 'no users found\n');
  });

  it('overwrites nothing, and leaves no file behind when it fails', async () => {
    const file = at('there');
    await writeFile(file, 'mine');
    const there = await user('create', 'dave', '--file', file);
    assert.deepEqual([there.status, await readFile(file, 'utf8')], [2, 'mine']);
    assert.match(there.err, /already exists and is not overwritten/);
    const without = await user('create', 'dave', '--role', 'no-such', '--file', at('dave'));
    assert.equal(without.status, 1);
    assert.match(without.err, /there is no ClusterRole "no-such"/);
    assert.equal(await isThere(at('dave')), false);
    assert.equal((await user('create', 'dave', '--file', at('nowhere/dave'))).status, 2);
  });

  const refused: [args: string[], message: RegExp][] = [
    [['system:admin'], /--allow-system allows them/],
    [['eve', '--group', 'system:masters'], /--allow-system allows them/],
    [['eve', '--group', ''], /--group: expected/],
    [['a/b'], /is not a valid name/],
    [['..'], /is not a valid name/],
    [['a', 'b'], /give one name/],
    [[], /give one name/],
    [['eve', '--ttl', '1m'], /--ttl: expected at least 10m/],
  ];
  for (const [args, message] of refused)
    it(`refuses ${JSON.stringify(args)}`, async () => {
      const { status, err } = await user('create', ...args, '--file', at('refused'));
      assert.deepEqual([status, await isThere(at('refused'))], [2, false]);
      assert.match(err, message);
    });

  it('requests a reserved name of the system with --allow-system, and the server decides', async () => {
    const own = await user('create', 'system:robot', '--allow-system', '--file', at('robot'));
    assert.equal(own.status, 0, own.err);
    const masters = await user(
      'create',
      'eve',
      '--group',
      'system:masters',
      '--allow-system',
      '--file',
      at('eve'),
    );
    assert.equal(masters.status, 1);
    assert.match(masters.err, /system:masters group is not allowed/);
    assert.equal(await isThere(at('eve')), false);
  });
});
