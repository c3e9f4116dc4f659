/** Controllers whose work can wait until a new cluster has started. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitionResource } from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { apiServiceResource } from '../../../src/api/apiregistration/v1/api-service.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { untilServed } from '../../../src/features/gateway/agent/gateway-kinds.ts';
import { gatewayResource } from '../../../src/features/gateway/api/kinds.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const countOf = async (cluster: Cluster) =>
  (await cluster.list(customResourceDefinitionResource)).length +
  (await cluster.list(apiServiceResource)).length;

it('APIServices and the definitions of the Gateway API are made once a node is Ready', async () => {
  const cluster = await startCluster();
  try {
    await cluster.pass(1000);
    assert.equal(await countOf(cluster), 0);
    const begun = cluster.clock.now();
    await cluster.addNode('a');
    await cluster.eventually('objects', async () => (await countOf(cluster)) > 10, 900);
    assert.ok(cluster.clock.now() - begun < 1000);
  } finally {
    await cluster.stop();
  }
});

it('they are made after two seconds in a cluster without nodes', async () => {
  const cluster = await startCluster();
  try {
    await cluster.pass(1900);
    assert.equal(await countOf(cluster), 0);
    await cluster.pass(200);
    await cluster.eventually('objects', async () => (await countOf(cluster)) > 10, 500);
  } finally {
    await cluster.stop();
  }
});

it('a node learns within a second that the kinds of the Gateway API are served', async () => {
  const cluster = await startCluster();
  const stop = new AbortController();
  try {
    const { clock, client } = cluster;
    const random = new SeededRandom(1);
    const definitions = createInformerFactory({ client, clock, random, log: silentLogger });
    let isServed = false;
    const served = untilServed({ client, clock, definitions }, stop.signal).then(() => {
      isServed = true;
    });
    await cluster.pass(1500);
    assert.equal(isServed, false);
    await cluster.eventually(
      'the kind',
      async () => (await cluster.list(gatewayResource).catch(() => undefined))?.length === 0,
    );
    await cluster.pass(1000);
    assert.equal(isServed, true);
    await served;
  } finally {
    stop.abort();
    await cluster.stop();
  }
});
