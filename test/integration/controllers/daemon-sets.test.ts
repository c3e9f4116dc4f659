/** DaemonSets on a real API server with its scheduler, and simulated agents. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../src/api/apps/v1/controller-revision.ts';
import { type DaemonSet, daemonSetResource } from '../../../src/api/apps/v1/daemon-set.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { revisionData } from '../../../src/controllers/workloads/revisions/revisions-plan.ts';
import { type Cluster, startCluster } from './cluster.ts';

const labels = { app: 'agent' };

/** A DaemonSet as a user writes it; the server sets the defaults. */
const daemonSet = (spec: object = {}, podSpec: object = {}): Draft<DaemonSet> =>
  ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image: 'app:1' }], ...podSpec },
      },
      ...spec,
    },
  }) as unknown as Draft<DaemonSet>;

const setImage = (image: string) => (target: DaemonSet) => {
  const [container] = target.spec.template.spec.containers;
  if (container) container.image = image;
};

describe('DaemonSets', () => {
  let cluster: Cluster;
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  before(async () => {
    cluster = await startCluster();
    await Promise.all(nodes.map((name) => cluster.addNode(name)));
  });
  after(() => cluster.stop());
  afterEach(async () => {
    cluster.agent.mayBeReady = () => true;
    await cluster.client.resource(daemonSetResource).delete('agent', 'default');
    await cluster.eventually('everything is gone', async () => {
      const [pods, revisions] = [
        await cluster.list(podResource),
        await cluster.list(controllerRevisionResource),
      ];
      return pods.length + revisions.length === 0;
    });
  });

  const create = (set: Draft<DaemonSet>) => cluster.client.resource(daemonSetResource).create(set);
  const pods = () => cluster.list(podResource, 'default');
  const living = async () => (await pods()).filter(({ metadata }) => !metadata.deletionTimestamp);
  const images = async () => (await living()).map(({ spec }) => spec.containers[0]?.image);
  const rolledOut = (wanted: number) =>
    cluster.eventually(`a rollout on ${wanted} nodes`, async () => {
      const set = await cluster.get(daemonSetResource, 'agent');
      const { status } = set ?? {};
      return (
        status?.observedGeneration === set?.metadata.generation &&
        status?.desiredNumberScheduled === wanted &&
        (status.updatedNumberScheduled ?? 0) === wanted &&
        (status.numberAvailable ?? 0) === wanted &&
        !status.numberUnavailable &&
        status
      );
    });

  it('run a pod on each node, including added nodes, and none on removed nodes', async () => {
    await create(daemonSet());
    await rolledOut(4);
    assert.deepEqual((await pods()).map(({ spec }) => spec.nodeName).sort(), nodes);
    await cluster.addNode('n5');
    await rolledOut(5);
    await cluster.client.resource(nodeResource).delete('n5');
    const status = await rolledOut(4);
    assert.equal(status.numberMisscheduled, 0);
    await cluster.eventually('events tell of them', async () => {
      const events = await cluster.list(eventResource, 'default');
      return events.some(
        ({ reason, message, involvedObject }) =>
          reason === 'SuccessfulCreate' &&
          involvedObject.kind === 'DaemonSet' &&
          message?.startsWith('Created pod: agent-'),
      );
    });
  });

  it('run on the nodes of their selector, and follow changes of labels', async () => {
    await create(daemonSet({}, { nodeSelector: { disk: 'ssd' } }));
    await cluster.eventually('none is wanted', async () => {
      const set = await cluster.get(daemonSetResource, 'agent');
      return set?.status?.observedGeneration === 1 && set.status.desiredNumberScheduled === 0;
    });
    assert.equal((await pods()).length, 0);
    const mark = (disk: string | undefined) =>
      cluster.edit(nodeResource, 'n2', ({ metadata }) => {
        const { disk: _, ...others } = metadata.labels ?? {};
        metadata.labels = disk ? { ...others, disk } : others;
      });
    await mark('ssd');
    await rolledOut(1);
    assert.deepEqual(
      (await pods()).map(({ spec }) => spec.nodeName),
      ['n2'],
    );
    await mark(undefined);
    await cluster.eventually('the pod goes', async () => (await pods()).length === 0);
  });

  it('replace old pods by maxUnavailable at a time, and keep the earlier revisions', async () => {
    await create(daemonSet());
    await rolledOut(4);
    let worst = 4;
    cluster.agent.mayBeReady = () => true;
    await cluster.edit(daemonSetResource, 'agent', setImage('app:2'));
    await cluster.eventually('all are new', async () => {
      const current = await living();
      worst = Math.min(worst, current.filter(podReady).length);
      return current.length === 4 && current.every(({ spec }) => spec.containers[0]?.image === 'app:2');
    });
    assert.ok(worst >= 3, `${worst} were ready`);
    await rolledOut(4);
    await cluster.edit(daemonSetResource, 'agent', setImage('app:1'));
    await rolledOut(4);
    assert.deepEqual(await images(), Array(4).fill('app:1'));
    const revisions = await cluster.list(controllerRevisionResource, 'default');
    assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [2, 3]);
    const set = await cluster.get(daemonSetResource, 'agent');
    const [current] = revisions.filter(({ revision }) => revision === 3);
    assert.equal(JSON.stringify(current?.data), JSON.stringify(revisionData(set?.spec.template as never)));
  });

  it('with maxSurge start the new pod before the old one is removed', async () => {
    await create(daemonSet({ updateStrategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } } }));
    await rolledOut(4);
    let [fewest, most] = [4, 4];
    await cluster.edit(daemonSetResource, 'agent', setImage('app:2'));
    await cluster.eventually('all are new', async () => {
      const current = await living();
      fewest = Math.min(fewest, new Set(current.filter(podReady).map(({ spec }) => spec.nodeName)).size);
      most = Math.max(most, current.length);
      return current.every(({ spec }) => spec.containers[0]?.image === 'app:2');
    });
    assert.deepEqual([fewest, most <= 6], [4, true], `${most} at once`);
    await rolledOut(4);
  });

  it('with OnDelete wait until the old pod is deleted', async () => {
    await create(daemonSet({ updateStrategy: { type: 'OnDelete' } }));
    await rolledOut(4);
    const [victim] = (await pods()) as [Pod, ...Pod[]];
    await cluster.edit(daemonSetResource, 'agent', setImage('app:2'));
    await cluster.pass(5_000);
    assert.deepEqual(await images(), Array(4).fill('app:1'));
    await cluster.client.resource(podResource).delete(victim.metadata.name, 'default');
    await cluster.eventually('one is new', async () => {
      const set = await cluster.get(daemonSetResource, 'agent');
      return set?.status?.updatedNumberScheduled === 1 && set.status.numberAvailable === 4;
    });
  });

  it('replace a pod that failed', async () => {
    await create(daemonSet());
    await rolledOut(4);
    const [victim] = (await pods()) as [Pod, ...Pod[]];
    const failed = deepCopy(victim);
    failed.status = { phase: 'Failed' };
    await cluster.client.resource(podResource).updateStatus(failed);
    await cluster.eventually('another one', async () => {
      const current = await living();
      const there = current.some(({ metadata }) => metadata.uid === victim.metadata.uid);
      return !there && current.filter(podReady).length === 4;
    });
    const tells = await cluster.eventually('an event reports it', async () => {
      const events = await cluster.list(eventResource, 'default');
      return events.find(({ reason }) => reason === 'FailedDaemonPod');
    });
    assert.equal(
      tells.message,
      `Found failed daemon pod default/${victim.metadata.name} on node ${victim.spec.nodeName}, will try to kill it`,
    );
  });

  it('adopt the pods of a deleted DaemonSet with the same labels', async () => {
    await create(daemonSet());
    await rolledOut(4);
    const before = (await pods()).map(({ metadata }) => metadata.uid).sort();
    await cluster.client
      .resource(daemonSetResource)
      .delete('agent', 'default', { propagationPolicy: 'Orphan' });
    await cluster.eventually('it is gone', async () => !(await cluster.get(daemonSetResource, 'agent')));
    await create(daemonSet());
    await rolledOut(4);
    assert.deepEqual((await pods()).map(({ metadata }) => metadata.uid).sort(), before);
    assert.equal((await cluster.list(controllerRevisionResource, 'default')).length, 1);
  });
});
