/** Rights that a controller declares become roles, which authorize the requests of its account. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import type { AccountRights } from '../../../src/api/rbac/v1/rule-rows.ts';
import { isForbidden } from '../../../src/apimachinery/status-error.ts';
import { serviceAccountUser } from '../../../src/apiserver/request/user.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { reconcilePolicy } from '../../../src/control-plane/reconcile-policy.ts';
import { admin, startTestServer } from '../../fixtures/api-server.ts';

const server = await startTestServer();
after(() => server.stop());
const clientOf = (user: typeof admin) => createClient(inProcessTransport(server.handlerFor(user)));

/** Declares the rights, and returns a client of the account that has them. */
async function declared(account: string, ...all: readonly AccountRights[]) {
  const controllers = all.map((rights) => ({ account, rights }));
  await reconcilePolicy(clientOf(admin), server.cache, { controllers, features: [] });
  await server.clock.until(server.cache.waitUntil(await server.store.currentRevision()));
  return clientOf(serviceAccountUser('kube-system', account));
}

test('a request without a declared right gets 403, and a request with a declared right is served', async () => {
  const client = await declared('sample-controller', { own: [['list', 'core', 'pods']] });
  assert.deepEqual((await client.resource(podResource).list({})).items, []);
  await assert.rejects(client.resource(podResource).delete('p', 'default'), isForbidden);
  await assert.rejects(client.resource(configMapResource).list({}), isForbidden);
});

test('controllers that share an account have the rights of both', async () => {
  const client = await declared(
    'shared-controller',
    { kubernetes: [['list', 'core', 'pods']] },
    { kubernetes: [['list', 'core', 'configmaps']] },
  );
  assert.deepEqual((await client.resource(podResource).list({})).items, []);
  assert.ok((await client.resource(configMapResource).list({})).items);
});

test('rights in kube-system do not reach other namespaces', async () => {
  const client = await declared('local-controller', { kubeSystem: [['list', 'core', 'secrets']] });
  assert.ok((await client.resource(secretResource).list({ namespace: 'kube-system' })).items);
  await assert.rejects(client.resource(secretResource).list({ namespace: 'default' }), isForbidden);
  await assert.rejects(client.resource(secretResource).list({}), isForbidden);
});
