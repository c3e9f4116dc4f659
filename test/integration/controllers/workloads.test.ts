import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

const labels = { app: 'web' };

/** A Deployment as a user writes it; the server sets the defaults. */
function deployment(replicas: number, spec: object = {}): Draft<Deployment> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      ...spec,
    },
  } as unknown as Draft<Deployment>;
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
} as unknown as Draft<Service>;

const setImage = (image: string) => (target: Deployment) => {
  const [container] = target.spec.template.spec.containers;
  if (container) container.image = image;
};

describe('workloads', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    await Promise.all(['n1', 'n2', 'n3'].map((name) => cluster.addNode(name)));
  });
  after(() => cluster.stop());
  afterEach(async () => {
    cluster.agent.mayBeReady = () => true;
    cluster.agent.mayEnd = () => true;
    for (const { metadata } of await cluster.list(deploymentResource))
      await cluster.client.resource(deploymentResource).delete(metadata.name, metadata.namespace);
    for (const { metadata } of await cluster.list(serviceResource, 'default'))
      if (metadata.name === 'web') await cluster.client.resource(serviceResource).delete('web', 'default');
    await cluster.eventually('everything is gone', async () =>
      (await counts()).every((count) => count === 0),
    );
  });

  const counts = async () => [
    (await cluster.list(deploymentResource)).length,
    (await cluster.list(replicaSetResource)).length,
    (await cluster.list(podResource)).length,
    (await cluster.list(endpointSliceResource, 'default')).filter((slice) =>
      slice.metadata.name.startsWith('web-'),
    ).length,
  ];

  const rolledOut = (replicas: number) =>
    cluster.eventually(`a rollout of ${replicas}`, async () => {
      const current = await cluster.get(deploymentResource, 'web');
      const { status } = current ?? {};
      const done =
        status?.observedGeneration === current?.metadata.generation &&
        status?.updatedReplicas === replicas &&
        status.replicas === replicas &&
        status.availableReplicas === replicas &&
        status.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable');
      return done && current;
    });

  const endpoints = async () =>
    (await cluster.list(endpointSliceResource, 'default'))
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
      .flatMap((slice) => slice.endpoints);

  it('a Deployment becomes a ReplicaSet, pods, bindings and endpoints; deleting it removes all of them', async () => {
    await cluster.client.resource(serviceResource).create(service);
    await cluster.client.resource(deploymentResource).create(deployment(3));
    await rolledOut(3);
    const pods = await cluster.list(podResource, 'default');
    assert.equal(new Set(pods.map(({ spec }) => spec.nodeName)).size, 3, 'one pod on each node');
    await cluster.eventually('three ready endpoints', async () => {
      const ready = (await endpoints()).filter(({ conditions }) => conditions.ready);
      return ready.length === 3;
    });
    const addresses = (await endpoints()).flatMap((endpoint) => endpoint.addresses).sort();
    assert.deepEqual(addresses, pods.map(({ status }) => status?.podIP).sort());
    await cluster.eventually('events report each change', async () => {
      const reasons = new Set((await cluster.list(eventResource, 'default')).map(({ reason }) => reason));
      return ['ScalingReplicaSet', 'SuccessfulCreate', 'Scheduled'].every((reason) => reasons.has(reason));
    });
  });

  it('a pod that is deleted is replaced, and its endpoint is removed at once', async () => {
    await cluster.client.resource(serviceResource).create(service);
    await cluster.client.resource(deploymentResource).create(deployment(2));
    await rolledOut(2);
    const [victim] = await cluster.list(podResource, 'default');
    assert.ok(victim);
    await cluster.client.resource(podResource).delete(victim.metadata.name, 'default');
    await cluster.eventually('two others', async () => {
      const current = await endpoints();
      return current.length === 2 && current.every(({ targetRef }) => targetRef?.uid !== victim.metadata.uid);
    });
  });

  it('a rolling update keeps to maxSurge and maxUnavailable at every moment, and undo returns', async () => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
    await cluster.client
      .resource(deploymentResource)
      .create(deployment(6, { strategy: { type: 'RollingUpdate', rollingUpdate } }));
    await rolledOut(6);
    const watching = new AbortController();
    const seen = watchExtremes(watching.signal);
    await cluster.edit(deploymentResource, 'web', setImage('app:2'));
    await rolledOut(6);
    watching.abort();
    const { most, minReady } = await seen;
    assert.ok(most <= 7, `${most} pods at once`);
    assert.ok(minReady >= 5, `only ${minReady} were ready`);
    const sets = await cluster.list(replicaSetResource, 'default');
    assert.deepEqual(sets.map(({ spec }) => spec.replicas).sort(), [0, 6]);
    await cluster.edit(deploymentResource, 'web', setImage('app:1'));
    const back = await rolledOut(6);
    assert.equal((await cluster.list(replicaSetResource, 'default')).length, 2);
    assert.equal(back.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  });

  /** Follows every state of every pod that the server reports. */
  async function watchExtremes(signal: AbortSignal): Promise<{ most: number; minReady: number }> {
    const list = await cluster.client.resource(podResource).list({ namespace: 'default' });
    const pods = new Map(list.items.map((pod) => [pod.metadata.uid, pod]));
    let most = pods.size;
    let minReady = pods.size;
    const { resourceVersion } = list.metadata;
    for await (const event of cluster.client
      .resource(podResource)
      .watch({ namespace: 'default', resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') pods.delete(event.object.metadata.uid);
      else pods.set(event.object.metadata.uid, event.object);
      const running = [...pods.values()].filter((pod) => !pod.metadata.deletionTimestamp);
      most = Math.max(most, running.length);
      minReady = Math.min(minReady, running.filter(podReady).length);
    }
    return { most, minReady };
  }

  it('a rollout to pods that never become ready stops at the limits', async () => {
    await cluster.client.resource(deploymentResource).create(
      deployment(4, {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      }),
    );
    await rolledOut(4);
    cluster.agent.mayBeReady = (pod) => pod.spec.containers[0]?.image !== 'broken:1';
    await cluster.edit(deploymentResource, 'web', setImage('broken:1'));
    const current = await cluster.eventually('a stuck rollout', async () => {
      const stuck = await cluster.get(deploymentResource, 'web');
      return stuck?.status?.updatedReplicas === 1 && stuck.status.replicas === 5 && stuck;
    });
    assert.equal(current.status?.availableReplicas, 4);
  });

  it('thirty replicas start, and are scaled down together with adopted pods', async () => {
    await cluster.client.resource(deploymentResource).create(deployment(30));
    await rolledOut(30);
    await cluster.edit(deploymentResource, 'web', (target) => {
      target.spec.replicas = 2;
    });
    await rolledOut(2);
    await cluster.eventually(
      'two pods',
      async () => (await cluster.list(podResource, 'default')).length === 2,
    );
  });

  it('Recreate never runs old and new side by side', async () => {
    await cluster.client
      .resource(deploymentResource)
      .create(deployment(3, { strategy: { type: 'Recreate' } }));
    await rolledOut(3);
    cluster.agent.mayEnd = () => false;
    await cluster.edit(deploymentResource, 'web', setImage('app:2'));
    await cluster.eventually('the old pods end', async () =>
      (await cluster.list(podResource, 'default')).every((pod) => pod.metadata.deletionTimestamp),
    );
    assert.equal((await cluster.list(replicaSetResource, 'default')).length, 1);
    cluster.agent.mayEnd = () => true;
    await rolledOut(3);
    const images = (await cluster.list(podResource, 'default')).map(({ spec }) => spec.containers[0]?.image);
    assert.deepEqual(images, ['app:2', 'app:2', 'app:2']);
  });

  it('a pod that stops matching is released and replaced; a matching orphan is adopted', async () => {
    await cluster.client.resource(deploymentResource).create(deployment(2));
    await rolledOut(2);
    const [first] = await cluster.list(podResource, 'default');
    assert.ok(first);
    const { name } = first.metadata;
    await cluster.edit(podResource, name, (pod) => {
      pod.metadata.labels = { app: 'debug' };
    });
    await cluster.eventually('three pods, one of them free', async () => {
      const released = await cluster.get(podResource, name);
      return released?.metadata.ownerReferences?.length
        ? false
        : (await cluster.list(podResource)).length === 3;
    });
    await cluster.edit(podResource, name, (pod) => {
      pod.metadata.labels = first.metadata.labels;
    });
    await cluster.eventually('two pods again, all owned', async () => {
      const pods = (await cluster.list(podResource)).filter(({ metadata }) => !metadata.deletionTimestamp);
      return pods.length === 2 && pods.every(({ metadata }) => metadata.ownerReferences?.length === 1);
    });
  });

  it('logs no error and no warning', () => {
    assert.deepEqual([...cluster.log.of('error'), ...cluster.log.of('warn')], []);
  });
});
