/** Definitions of another program and an earlier version, which have no BackendTLSPolicies of version v1. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitionResource } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { isUnserved } from '../../../../src/features/gateway/agent/gateway-kinds.ts';
import {
  backendTlsPolicyResource,
  gatewayClassResource,
  gatewayResource,
  httpRouteResource,
} from '../../../../src/features/gateway/api/kinds.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';
import { listener, makeGateway, makeRoute, ruleTo } from '../../../unit/features/gateway/objects.ts';
import { type Cluster, startCluster } from '../../controllers/cluster.ts';

const metadata = (name: string) => ({ name, namespace: 'default' });
const hasClass = (cluster: Cluster) => async () =>
  (await cluster.get(gatewayClassResource, 'minik8s'))?.status?.conditions?.[0]?.status === 'True';

it('routes are accepted although the definition of BackendTLSPolicies has no version v1', async () => {
  const store = createMemoryStore();
  const before = await startCluster({ store });
  await before.eventually('the class', hasClass(before));
  assert.equal(await before.until(isUnserved(before.client, backendTlsPolicyResource)), false);
  const patch = [{ op: 'replace', path: '/spec/versions/0/served', value: false }];
  await before.client
    .resource(customResourceDefinitionResource)
    .patch('backendtlspolicies.gateway.networking.k8s.io', '', 'json', patch);
  await before.stop();

  const cluster = await startCluster({ store });
  try {
    const { client } = cluster;
    await cluster.eventually('the class', hasClass(cluster));
    await cluster.eventually('no such kind', () => isUnserved(client, backendTlsPolicyResource));
    const gateway = makeGateway('front', [listener('http')]);
    await client.resource(gatewayResource).create({ ...gateway, metadata: metadata('front') });
    const route = makeRoute('web', [ruleTo('web')], { parentRefs: [{ name: 'front' }] });
    await client.resource(httpRouteResource).create({ ...route, metadata: metadata('web') });
    await cluster.eventually('the status', async () => {
      const { parents } = (await cluster.get(httpRouteResource, 'web'))?.status ?? {};
      return parents?.[0]?.conditions[0]?.reason === 'Accepted';
    });
  } finally {
    await cluster.stop();
  }
});
