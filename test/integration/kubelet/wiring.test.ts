/** Options of the node agent reach the parts that need them, over the simulated engine. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ClusterImages } from '../../../src/kubelet/images/cluster-images.ts';
import type { NodeFeature } from '../../../src/kubelet/node/node-feature.ts';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

describe('the node agent', () => {
  let node: SimulatedNode;
  beforeEach(async () => {
    node = await startSimulatedNode();
  });
  afterEach(() => node.close());

  const ready = async () =>
    eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));

  it('gives pods the name servers of its own resolver file, and the domain of the cluster', async () => {
    const resolvConf = join(node.dataDir, 'own-resolv.conf');
    await writeFile(resolvConf, 'nameserver 192.0.2.53\n');
    node.start({ resolvConf, clusterDNS: '10.96.0.10', clusterDomain: 'own.example' });
    await ready();
    await node.createPod('outside', { dnsPolicy: 'Default' });
    await node.createPod('inside');
    const files = async (name: string) => {
      const pod = await node.waitFor(name, isReady);
      return readFile(join(node.dataDir, 'pods', pod.metadata.uid, 'resolv.conf'), 'utf8');
    };
    assert.match(await files('outside'), /^nameserver 192\.0\.2\.53$/m);
    assert.match(await files('inside'), /default\.svc\.own\.example svc\.own\.example own\.example/);
  });

  it('asks a feature for the images that the cluster holds', async () => {
    const asked: string[] = [];
    const clusterImages: ClusterImages = {
      find: async (_pod, image) => void asked.push(image),
      mayRemove: () => true,
      removed: () => undefined,
    };
    const feature: NodeFeature = { start: () => ({ clusterImages }) };
    node.start({ features: [feature] });
    await ready();
    await node.createPod('web');
    await node.waitFor('web', isReady);
    assert.ok(asked.includes('app:1'), asked.join());
  });

  it('calls its features when nothing of a deleted pod is left', async () => {
    let gone = 0;
    const feature: NodeFeature = { start: () => ({ podGone: () => void gone++ }) };
    node.start({ features: [feature] });
    await ready();
    await node.createPod('web');
    await node.waitFor('web', isReady);
    assert.equal(gone, 0);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0');
    await eventually(async () => assert.deepEqual(await node.running('web'), []));
    // Finished workers are removed with the next change of the node's pods.
    await node.createPod('next');
    await node.waitFor('next', isReady);
    await node.createPod('last');
    await eventually(async () => assert.ok(gone > 0));
  });
});
