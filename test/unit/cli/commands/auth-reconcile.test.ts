/** `ctl auth reconcile` beside other writers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth } from '../../../../src/cli/commands/auth.ts';
import { reconcile } from '../../../../src/cli/commands/auth-reconcile.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const apiVersion = 'rbac.authorization.k8s.io/v1';
const binding = (role: string) => ({
  ...{ apiVersion, kind: 'RoleBinding', metadata: { name: 'b', namespace: 'default' } },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' }],
});
const role = (verbs: readonly string[]) => ({
  ...{ apiVersion, kind: 'Role', metadata: { name: 'r', namespace: 'default' } },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
});

describe('ctl auth reconcile', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  const run = (object: object, before?: (method: string) => Promise<void>) =>
    world.run(reconcile, ['-f', '-'], {
      stdin: JSON.stringify(object),
      ...(before && { before: ({ method }) => before(method) }),
    });

  it('plans again after the write of another client, and keeps what that client wrote', async () => {
    await world.send('POST', `${rbac}/roles`, role(['get']));
    let writes = 0;
    const { status } = await run(role(['list']), async (method) => {
      if (method !== 'PUT' || writes++ > 0) return;
      await world.send('PUT', `${rbac}/roles/r`, role(['get', 'watch']));
    });
    assert.deepEqual([status, writes], [0, 2]);
    const { rules } = await world.send('GET', `${rbac}/roles/r`);
    const verbs = (rules as { verbs: string[] }[]).flatMap((rule) => rule.verbs).sort();
    assert.deepEqual(verbs, ['get', 'list', 'watch']);
  });

  it('does not delete a binding of the same name that another client has created meanwhile', async () => {
    await world.send('POST', `${rbac}/rolebindings`, binding('old'));
    let deletions = 0;
    const { status } = await run(binding('new'), async (method) => {
      if (method !== 'DELETE' || deletions++ > 0) return;
      await world.send('DELETE', `${rbac}/rolebindings/b`);
      await world.send('POST', `${rbac}/rolebindings`, binding('new'));
    });
    assert.deepEqual([status, deletions], [0, 1]);
    const now = await world.send('GET', `${rbac}/rolebindings/b`);
    assert.equal((now.roleRef as { name: string }).name, 'new');
  });
});

describe('ctl auth can-i', () => {
  it('ends with status 1 for no, with and without --quiet', async (context) => {
    const world = await startVerbWorld();
    context.after(() => world.stop());
    const canI = auth.verbs['can-i'] ?? assert.fail();
    const yes = await world.run(canI, ['get', 'pods']);
    assert.deepEqual([yes.status, yes.out], [0, 'yes\n']);
    const user = { name: 'ann', groups: ['system:authenticated'] };
    const no = await world.run(canI, ['get', 'pods'], { user });
    assert.deepEqual([no.status, no.out], [1, 'no\n']);
    const quiet = await world.run(canI, ['get', 'pods', '-q'], { user });
    assert.deepEqual([quiet.status, quiet.out], [1, '']);
  });
});
