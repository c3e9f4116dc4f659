/**
 * A pod runs in the runtime of its class, or waits: over the simulated engine, whose only runtime is runc.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const classes = '/apis/node.k8s.io/v1/runtimeclasses';
const waiting = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting;

describe('a pod with a runtime class', () => {
  let node: SimulatedNode;
  /** Requested runtime of each created container, by pod. */
  const asked = new Map<string, string | undefined>();
  before(async () => {
    node = await startSimulatedNode();
    const create = node.runtime.createContainer.bind(node.runtime);
    node.runtime.createContainer = async (config) => {
      asked.set(config.pod.name, config.runtime);
      return create(config);
    };
    for (const handler of ['runc', 'kata']) {
      const made = await node.server.call('POST', classes, { metadata: { name: `of-${handler}` }, handler });
      assert.equal(made.status, 201, made.text);
    }
    node.start();
    await eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  });
  after(() => node.close());

  it('runs in the runtime of its class', async () => {
    await node.createPod('a', { runtimeClassName: 'of-runc' });
    await node.createPod('b');
    await node.waitFor('a', isReady);
    await node.waitFor('b', isReady);
    assert.deepEqual([asked.get('a'), asked.get('b')], ['runc', undefined]);
  });

  it('waits with the reason if the engine lacks the runtime', async () => {
    await node.createPod('c', { runtimeClassName: 'of-kata' });
    const pod = await node.waitFor('c', (one) => waiting(one)?.reason === 'CreateContainerError');
    assert.match(waiting(pod)?.message ?? '', /unknown runtime kata/);
    assert.deepEqual(await node.running('c'), []);
  });

  it('waits if its class is deleted', async () => {
    node.cutOff();
    await node.createPod('d', { runtimeClassName: 'of-runc' });
    assert.equal((await node.server.call('DELETE', `${classes}/of-runc`)).status, 200);
    node.reconnect();
    const pod = await node.waitFor('d', (one) => waiting(one)?.reason === 'CreateContainerConfigError');
    assert.equal(waiting(pod)?.message, 'RuntimeClass "of-runc" not found');
    assert.equal(asked.has('d'), false);
  });
});
