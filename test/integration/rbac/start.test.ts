/** Reconciliation of the cluster's roles when a server starts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { reconcilePolicy } from '../../../src/control-plane/reconcile-policy.ts';
import { policySources } from '../../../src/control-plane/server-features.ts';
import { bootstrapPolicy } from '../../../src/kube-apiserver/rbac/bootstrap/policy-objects.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { clusterRoleBindings, clusterRoles } from './rbac-world.ts';

const first = await startTestServer();
after(() => first.stop());
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const stored = async ({ store }: TestServer) =>
  (await store.list('/registry/', {})).items.filter(({ key }) => key.includes('.rbac.authorization.k8s.io/'));
/** Reconciles the policy as a start does, against the cache of the running server. */
async function start(): Promise<void> {
  await first.clock.until(first.cache.waitUntil(await first.store.currentRevision()));
  await reconcilePolicy(
    createClient(inProcessTransport(first.handlerFor(admin))),
    first.cache,
    policySources(),
  );
}

test('the first start of a server creates all roles and bindings', async () => {
  assert.equal((await stored(first)).length, bootstrapPolicy(policySources()).flat().length);
});

test('the next start writes nothing', async () => {
  const before = await first.store.currentRevision();
  await start();
  assert.equal(await first.store.currentRevision(), before);
});

test('a start restores removed rules and roles, keeps added rules, and leaves protected roles unchanged', async () => {
  const role = async (server: TestServer, path: string) =>
    (await server.call('GET', path)).json<KubeObject & { rules: object[]; roleRef: { name: string } }>();
  const kubeDns = `${clusterRoles}/system:kube-dns`;
  const rule = { verbs: ['get'], apiGroups: ['x'], resources: ['y'] };
  await first.call('PATCH', kubeDns, { rules: [rule] }, merge);
  const view = `${clusterRoles}/system:aggregate-to-view`;
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  await first.call('PATCH', view, { rules: [rule], metadata: { annotations } }, merge);
  await first.call('DELETE', `${clusterRoles}/system:node-proxier`);
  const binding = `${clusterRoleBindings}/system:monitoring`;
  const { uid } = (await role(first, binding)).metadata;
  await first.call('DELETE', binding);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const wrong = await first.call('POST', clusterRoleBindings, {
    metadata: { name: 'system:monitoring' },
    roleRef,
  });
  assert.equal(wrong.status, 201, wrong.text);
  await start();
  assert.deepEqual((await role(first, kubeDns)).rules, [
    rule,
    ...['endpoints', 'services'].flatMap((resource) =>
      ['list', 'watch'].map((verb) => ({ verbs: [verb], apiGroups: [''], resources: [resource] })),
    ),
  ]);
  assert.deepEqual((await role(first, view)).rules, [rule]);
  assert.equal((await first.call('GET', `${clusterRoles}/system:node-proxier`)).status, 200);
  const restored = await role(first, binding);
  assert.equal(restored.roleRef.name, 'system:monitoring');
  assert.notEqual(restored.metadata.uid, uid);
});
