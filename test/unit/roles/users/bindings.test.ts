/** Bindings that grant users roles. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Cluster } from '../../../../src/cli/connection/cluster.ts';
import { bindings, grant } from '../../../../src/roles/users/bindings.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

describe('bindings of users', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  /** Runs the work with a cluster, and prints its result as JSON. */
  const within = (work: (cluster: Cluster) => Promise<unknown>) =>
    world.run(
      { about: 'test', run: async ({ cluster, io }) => io.out(JSON.stringify(await work(cluster()))) },
      [],
    );

  it('prefer the Role of the namespace to a ClusterRole of the same name', async () => {
    await world.send('POST', `${rbac}/namespaces/default/roles`, { metadata: { name: 'view' }, rules: [] });
    await within((cluster) => grant(cluster, { user: 'ann', role: 'view', namespace: 'default' }));
    await within((cluster) => grant(cluster, { user: 'ben', role: 'view', namespace: undefined }));
    const { out } = await within(bindings);
    const found = (JSON.parse(out) as { user: string; role: string; namespace: string }[]).map(
      ({ user, role, namespace }) => [user, role, namespace],
    );
    assert.deepEqual(found.sort(), [
      ['ann', 'Role/view', 'default'],
      ['ben', 'ClusterRole/view', ''],
    ]);
  });

  it('are kept if they exist, and are not created for a role that does not exist', async () => {
    const ben = { user: 'ben', namespace: undefined };
    const again = await within((cluster) => grant(cluster, { ...ben, role: 'view' }));
    assert.match(again.out, /unchanged/);
    const missing = await within((cluster) => grant(cluster, { ...ben, role: 'no' }));
    assert.deepEqual(
      [missing.status, missing.err],
      [1, 'error: there is no ClusterRole "no"; minik8s ctl get clusterroles lists them\n'],
    );
  });

  it('that other tools have created are not listed', async () => {
    await world.send('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'other' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    });
    assert.doesNotMatch((await within(bindings)).out, /eve/);
  });
});
