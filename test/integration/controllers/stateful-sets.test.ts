/** StatefulSets on a real API server with its scheduler, and simulated agents. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../src/api/apps/v1/controller-revision.ts';
import { type StatefulSet, statefulSetResource } from '../../../src/api/apps/v1/stateful-set.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeClaimResource } from '../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

const labels = { app: 'web' };

/** A StatefulSet as a user writes it; the server sets the defaults. */
const statefulSet = (replicas: number, spec: object = {}): Draft<StatefulSet> =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      serviceName: 'www',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      ...spec,
    },
  }) as unknown as Draft<StatefulSet>;

const setImage = (image: string) => (target: StatefulSet) => {
  const [container] = target.spec.template.spec.containers;
  if (container) container.image = image;
};
const withData = (policy: object = {}) => ({
  persistentVolumeClaimRetentionPolicy: policy,
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ],
});

describe('StatefulSets', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    await Promise.all(['n1', 'n2', 'n3'].map((name) => cluster.addNode(name)));
  });
  after(() => cluster.stop());
  afterEach(async () => {
    cluster.agent.mayBeReady = () => true;
    cluster.agent.mayEnd = () => true;
    await cluster.client.resource(statefulSetResource).delete('web', 'default');
    for (const { metadata } of await cluster.list(persistentVolumeClaimResource, 'default'))
      await cluster.edit(persistentVolumeClaimResource, metadata.name, (claim) => {
        claim.metadata.finalizers = [];
      });
    for (const { metadata } of await cluster.list(persistentVolumeClaimResource, 'default'))
      await cluster.client.resource(persistentVolumeClaimResource).delete(metadata.name, 'default');
    await cluster.eventually('everything is gone', async () => {
      const kinds = [podResource, controllerRevisionResource, persistentVolumeClaimResource];
      const lists = await Promise.all(kinds.map((kind) => cluster.list(kind as typeof podResource)));
      return lists.flat().length === 0;
    });
  });

  const create = (set: Draft<StatefulSet>) => cluster.client.resource(statefulSetResource).create(set);
  const edit = (change: (set: StatefulSet) => void) => cluster.edit(statefulSetResource, 'web', change);
  const pods = () => cluster.list(podResource, 'default');
  const names = async () => (await pods()).map(({ metadata }) => metadata.name).sort();
  const images = async () =>
    Object.fromEntries((await pods()).map((pod) => [pod.metadata.name, pod.spec.containers[0]?.image]));
  const claims = async () =>
    (await cluster.list(persistentVolumeClaimResource, 'default'))
      .map(({ metadata }) => metadata.name)
      .sort();
  const when = (what: string, holds: (status: NonNullable<StatefulSet['status']>) => boolean) =>
    cluster.eventually(what, async () => {
      const set = await cluster.get(statefulSetResource, 'web');
      const { status } = set ?? {};
      return status && status.observedGeneration === set?.metadata.generation && holds(status) && status;
    });
  const rolledOut = (replicas: number) =>
    when(
      `${replicas} of the new template`,
      (status) =>
        status.currentRevision === status.updateRevision &&
        status.replicas === replicas &&
        (status.currentReplicas ?? 0) === replicas &&
        status.availableReplicas === replicas,
    );

  it('create their pods one after the other, each with its own name, and remove them in reverse order', async () => {
    const order: string[] = [];
    let most = 0;
    cluster.agent.mayBeReady = (pod) => {
      if (!order.includes(pod.metadata.name)) order.push(pod.metadata.name);
      return true;
    };
    await create(statefulSet(4));
    await rolledOut(4);
    assert.deepEqual(order, ['web-0', 'web-1', 'web-2', 'web-3']);
    const pod = (await cluster.get(podResource, 'web-2')) as Pod;
    assert.deepEqual([pod.spec.hostname, pod.spec.subdomain], ['web-2', 'www']);
    const { 'controller-revision-hash': revision, ...others } = pod.metadata.labels ?? {};
    assert.deepEqual(others, {
      app: 'web',
      'statefulset.kubernetes.io/pod-name': 'web-2',
      'apps.kubernetes.io/pod-index': '2',
    });
    assert.equal(revision, (await cluster.get(statefulSetResource, 'web'))?.status?.currentRevision);
    const ended: string[] = [];
    cluster.agent.mayEnd = ({ metadata }) => {
      if (!ended.includes(metadata.name)) ended.push(metadata.name);
      return true;
    };
    await edit(({ spec }) => {
      spec.replicas = 1;
    });
    await cluster.eventually('three are gone', async () => {
      const ending = (await pods()).filter(({ metadata }) => metadata.deletionTimestamp);
      most = Math.max(most, ending.length);
      return (await pods()).length === 1;
    });
    assert.deepEqual([ended, most <= 1], [['web-3', 'web-2', 'web-1'], true]);
    await cluster.eventually('events tell of them', async () => {
      const events = await cluster.list(eventResource, 'default');
      const messages = events.map(({ reason, message }) => `${reason}: ${message}`);
      return [
        'SuccessfulCreate: create Pod web-0 in StatefulSet web successful',
        'SuccessfulDelete: delete Pod web-3 in StatefulSet web successful',
      ].every((message) => messages.includes(message));
    });
  });

  it('wait for a pod that is not ready before they create or remove the next one', async () => {
    cluster.agent.mayBeReady = ({ metadata }) => metadata.name !== 'web-1';
    await create(statefulSet(3));
    await when('one is ready', (status) => status.readyReplicas === 1 && status.replicas === 2);
    await cluster.pass(3_000);
    assert.deepEqual(await names(), ['web-0', 'web-1']);
    cluster.agent.mayBeReady = () => true;
    await rolledOut(3);
  });

  it('create and remove all pods at once with the policy Parallel', async () => {
    cluster.agent.mayBeReady = () => false;
    await create(statefulSet(5, { podManagementPolicy: 'Parallel' }));
    await cluster.eventually('all are made', async () => (await pods()).length === 5);
    await edit(({ spec }) => {
      spec.replicas = 0;
    });
    await cluster.eventually('all are gone', async () => (await pods()).length === 0);
  });

  it('begin with the ordinal that they name, and replace their pods when it changes', async () => {
    await create(statefulSet(2, { ordinals: { start: 3 } }));
    await rolledOut(2);
    assert.deepEqual(await names(), ['web-3', 'web-4']);
    await edit(({ spec }) => {
      spec.ordinals = { start: 4 };
    });
    await cluster.eventually('moved', async () => (await names()).join() === 'web-4,web-5');
    await rolledOut(2);
  });

  it('roll a template out from the last pod to the first, down to the partition, and undo that', async () => {
    await create(statefulSet(3, { updateStrategy: { rollingUpdate: { partition: 2 } } }));
    const { currentRevision } = await rolledOut(3);
    await edit(setImage('app:2'));
    await when('one is new', (status) => status.updatedReplicas === 1 && status.availableReplicas === 3);
    assert.deepEqual(await images(), { 'web-0': 'app:1', 'web-1': 'app:1', 'web-2': 'app:2' });
    // A pod below the partition is recreated with its previous revision.
    const first = (await cluster.get(podResource, 'web-0'))?.metadata.uid;
    await cluster.client.resource(podResource).delete('web-0', 'default');
    await cluster.eventually('it is back', async () => {
      const pod = await cluster.get(podResource, 'web-0');
      return pod && pod.metadata.uid !== first && podReady(pod);
    });
    assert.equal((await images())['web-0'], 'app:1');
    const order: string[] = [];
    cluster.agent.mayBeReady = ({ metadata }) => {
      if (!order.includes(metadata.name)) order.push(metadata.name);
      return true;
    };
    await edit(({ spec }) => {
      spec.updateStrategy.rollingUpdate = { partition: 0 };
    });
    await rolledOut(3);
    assert.deepEqual(order, ['web-1', 'web-0']);
    await edit(setImage('app:1'));
    const status = await rolledOut(3);
    assert.equal(status.currentRevision, currentRevision);
    const revisions = await cluster.list(controllerRevisionResource, 'default');
    assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [2, 3]);
  });

  it('with OnDelete, give a pod the new template only after someone has deleted it', async () => {
    await create(statefulSet(2, { updateStrategy: { type: 'OnDelete' } }));
    await when('two', (status) => status.availableReplicas === 2);
    await edit(setImage('app:2'));
    await cluster.pass(3_000);
    assert.deepEqual(await images(), { 'web-0': 'app:1', 'web-1': 'app:1' });
    await cluster.client.resource(podResource).delete('web-0', 'default');
    await when('one is new', (status) => status.updatedReplicas === 1 && status.availableReplicas === 2);
    assert.deepEqual(await images(), { 'web-0': 'app:2', 'web-1': 'app:1' });
  });

  it('create a pod again that has ended', async () => {
    await create(statefulSet(2));
    await rolledOut(2);
    const victim = (await cluster.get(podResource, 'web-0')) as Pod;
    const failed = deepCopy(victim);
    failed.status = { phase: 'Failed', reason: 'Evicted' };
    await cluster.client.resource(podResource).updateStatus(failed);
    await cluster.eventually('another one', async () => {
      const pod = await cluster.get(podResource, 'web-0');
      return pod && pod.metadata.uid !== victim.metadata.uid && podReady(pod);
    });
  });

  it('create the claims of a pod before the pod, and keep them', async () => {
    cluster.agent.mayBeReady = () => true;
    await create(statefulSet(2, { ...withData(), podManagementPolicy: 'Parallel' }));
    await cluster.eventually('two pods', async () => (await pods()).length === 2);
    assert.deepEqual(await claims(), ['data-web-0', 'data-web-1']);
    const claim = await cluster.get(persistentVolumeClaimResource, 'data-web-0');
    assert.deepEqual([claim?.metadata.labels, claim?.metadata.ownerReferences], [labels, undefined]);
    const pod = await cluster.get(podResource, 'web-0');
    assert.deepEqual(pod?.spec.volumes?.[0], {
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-web-0' },
    });
    await edit(({ spec }) => {
      spec.replicas = 0;
    });
    await cluster.eventually('no pods', async () => (await pods()).length === 0);
    assert.deepEqual(await claims(), ['data-web-0', 'data-web-1']);
  });

  it('delete claims together with a surplus pod, or with the set, according to the policy', async () => {
    const policy = { whenScaled: 'Delete', whenDeleted: 'Delete' };
    await create(statefulSet(2, { ...withData(policy), podManagementPolicy: 'Parallel' }));
    await cluster.eventually('two pods', async () => (await pods()).length === 2);
    const unheld = async (name: string) =>
      cluster.edit(persistentVolumeClaimResource, name, ({ metadata }) => {
        metadata.finalizers = [];
      });
    const owners = async (name: string) =>
      (await cluster.get(persistentVolumeClaimResource, name))?.metadata.ownerReferences?.map(
        ({ kind, name: owner }) => `${kind} ${owner}`,
      );
    assert.deepEqual(await owners('data-web-1'), ['StatefulSet web']);
    cluster.agent.mayEnd = () => false;
    await edit(({ spec }) => {
      spec.replicas = 1;
    });
    await cluster.eventually(
      'the pod owns it',
      async () => (await owners('data-web-1'))?.[0] === 'Pod web-1',
    );
    cluster.agent.mayEnd = () => true;
    await unheld('data-web-1');
    await cluster.eventually('it went', async () => (await claims()).join() === 'data-web-0');
    assert.deepEqual(await owners('data-web-0'), ['StatefulSet web']);
  });
});
