/** Service variables of containers, and when they are set: over the simulated engine. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const service = (name: string, clusterIP: string, resourceVersion = '1'): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default', uid: name, resourceVersion, creationTimestamp: '' },
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP,
    ports: [{ port: 80, protocol: 'TCP' }],
  },
});

describe('variables of Services in containers', () => {
  let node: SimulatedNode;
  /** WEB_SERVICE_HOST of each created container, in order; undefined if it was not set. */
  let told: (string | undefined)[];

  beforeEach(async () => {
    told = [];
    node = await startSimulatedNode();
    const create = node.runtime.createContainer.bind(node.runtime);
    node.runtime.createContainer = async (config) => {
      told.push(config.env.find((line) => line.startsWith('WEB_SERVICE_HOST='))?.split('=')[1]);
      return create(config);
    };
  });
  afterEach(() => node.close());

  const ready = () => eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  const runsAnew = (name: string, before: string | undefined) =>
    eventually(async () => {
      const [now] = await node.running(name);
      assert.ok(now !== undefined && now !== before);
      return now;
    });

  it('no container starts before the Services were read; each start uses the Services at that time', async () => {
    const services = new ScriptedInformers('unread');
    const informer = services.informerFor(serviceResource);
    node.start({ services: informer });
    await ready();
    await node.createPod('early');
    await node.waitFor('early', ({ status }) => status?.containerStatuses !== undefined);
    assert.deepEqual(told, []);
    services.put(serviceResource, service('web', '10.96.0.9'));
    informer.sync();
    await node.waitFor('early', isReady);
    assert.deepEqual(told, ['10.96.0.9']);

    services.put(serviceResource, service('web', '10.96.0.10', '2'));
    const [first] = await node.running('early');
    node.runtime.exit(first ?? assert.fail('it does not run'), 1);
    await runsAnew('early', first);
    assert.deepEqual(told, ['10.96.0.9', '10.96.0.10']);
  });

  it('a pod that is deleted does not wait until the Services are read', async () => {
    node.start({ services: new ScriptedInformers('unread').informerFor(serviceResource) });
    await ready();
    await node.createPod('leaving');
    await node.waitFor('leaving', ({ status }) => status?.containerStatuses !== undefined);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/leaving');
    await eventually(async () => {
      const { status } = await node.server.call('GET', '/api/v1/namespaces/default/pods/leaving');
      assert.equal(status, 404);
    });
    assert.deepEqual(told, []);
  });

  it('an agent that starts while no API server answers reads the Services from its record', async () => {
    const services = new ScriptedInformers();
    services.put(serviceResource, service('web', '10.96.0.9'));
    node.start({ services: services.informerFor(serviceResource) });
    await ready();
    await node.createPod('lasting');
    await node.waitFor('lasting', isReady);
    const [first] = await node.running('lasting');
    await node.stop();
    node.cutOff();
    node.runtime.exit(first ?? assert.fail('it does not run'), 1);
    node.start({
      podCIDR: undefined,
      services: new ScriptedInformers('unread').informerFor(serviceResource),
    });
    await runsAnew('lasting', first);
    assert.deepEqual(told, ['10.96.0.9', '10.96.0.9']);
  });
});
