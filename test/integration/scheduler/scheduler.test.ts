import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { reportAnnotation } from '../../../src/scheduler/explain.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../controllers/cluster.ts';

const draft = (name: string, cpu = '100m', spec: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }], ...spec },
  }) as unknown as Draft<Pod>;

describe('scheduler', () => {
  let cluster: Cluster | undefined;
  afterEach(() => cluster?.stop());
  const eventually: Cluster['eventually'] = (...given) => (cluster as Cluster).eventually(...given);

  async function start(nodes: Record<string, string>, options: ClusterOptions = {}): Promise<Cluster> {
    const started = await startCluster(options);
    cluster = started;
    for (const [name, cpu] of Object.entries(nodes))
      await started.addNode(name, { cpu, memory: '8Gi', pods: '500' });
    return started;
  }

  const bound = ({ list }: Cluster, count: number) =>
    eventually(`${count} bound pods`, async () => {
      const pods = (await list(podResource, 'default')).filter(({ spec }) => spec.nodeName);
      return pods.length === count && pods;
    });

  it('never exceeds the capacity of a node, even if many pods arrive at once', async () => {
    const { client, list } = await start({ n1: '1', n2: '1', n3: '1' });
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => client.resource(podResource).create(draft(`p${index}`))),
    );
    const pods = await bound({ list } as Cluster, 30);
    for (const name of ['n1', 'n2', 'n3'])
      assert.equal(pods.filter(({ spec }) => spec.nodeName === name).length, 10, name);
  });

  it('reports why a pod waits, and binds it as soon as there is room', async () => {
    const { client, list, get, addNode, pass } = await start({ n2: '500m' });
    const taints = [{ key: 'team', value: 'a', effect: 'NoSchedule' as const }];
    await addNode('n1', { cpu: '1', memory: '8Gi', pods: '10' }, { taints });
    await client.resource(podResource).create(draft('first', '500m'));
    await bound({ list } as Cluster, 1);
    await client.resource(podResource).create(draft('second', '250m'));
    const message =
      '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {team: a}.' +
      ' Nearest fit: n2 lacks 250m cpu (requested 250m, free 0).';
    const pod = await eventually('the reason', async () => {
      const waiting = await get(podResource, 'second');
      return waiting?.status?.conditions?.some((condition) => condition.message === message) && waiting;
    });
    const condition = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'Unschedulable']);
    assert.equal(JSON.parse(pod.metadata.annotations?.[reportAnnotation] ?? '{}').nodes[0].node, 'n2');
    await eventually('the event', async () => {
      const events = await list(eventResource, 'default');
      return events.some(
        ({ reason, type, message: text }) =>
          reason === 'FailedScheduling' && type === 'Warning' && text === message,
      );
    });
    // Let the scheduler see its own reports first: only the freed room may wake the pod.
    await pass(100);
    await client.resource(podResource).delete('first', 'default', { gracePeriodSeconds: 0 });
    const placed = await eventually('the second is bound', async () => {
      const now = await get(podResource, 'second');
      return now?.spec.nodeName !== undefined && !now.metadata.annotations?.[reportAnnotation] && now;
    });
    assert.equal(placed.spec.nodeName, 'n2');
    assert.equal(placed.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status, 'True');
  });

  it('binds waiting pods when a node is added, is uncordoned or has room again', async () => {
    const { client, list, get, edit, addNode } = await start({});
    await client.resource(podResource).create(draft('p1', '3'));
    await eventually('it waits', async () =>
      (await list(podResource)).some(({ status }) =>
        status?.conditions?.some(({ message }) => message === 'no nodes available to schedule pods'),
      ),
    );
    await addNode('n1');
    await bound({ list } as Cluster, 1);
    await edit(nodeResource, 'n1', (node) => {
      node.spec.unschedulable = true;
    });
    await client.resource(podResource).create(draft('p2', '3'));
    const told = (text: string) =>
      eventually(text, async () => {
        const conditions = (await get(podResource, 'p2'))?.status?.conditions;
        return conditions?.some(({ message }) => message?.includes(text));
      });
    await told('1 node(s) were unschedulable');
    await edit(nodeResource, 'n1', (node) => {
      node.spec.unschedulable = false;
    });
    await told('1 Insufficient cpu');
    await client.resource(podResource).delete('p1', 'default', { gracePeriodSeconds: 0 });
    await eventually('p2 is bound', async () => (await get(podResource, 'p2'))?.spec.nodeName === 'n1');
  });

  it('leaves pods of other schedulers alone, and schedules by RoundRobin when configured', async () => {
    const { client, list, get } = await start(
      { a: '4', b: '4', c: '4' },
      { scheduler: { policy: 'RoundRobin' } },
    );
    await client.resource(podResource).create(draft('foreign', '100m', { schedulerName: 'mine' }));
    for (let index = 0; index < 6; index++) {
      await client.resource(podResource).create(draft(`p${index}`));
      await bound({ list } as Cluster, index + 1);
    }
    const pods = await bound({ list } as Cluster, 6);
    assert.deepEqual(
      pods.map(({ spec }) => spec.nodeName),
      ['a', 'b', 'c', 'a', 'b', 'c'],
    );
    assert.equal((await get(podResource, 'foreign'))?.spec.nodeName, undefined);
  });

  it('assigns a pod no node before its gates are removed', async () => {
    const { client, list, get, edit } = await start({ n1: '1' });
    const pods = client.resource(podResource);
    await pods.create(draft('gated', '100m', { schedulingGates: [{ name: 'a.example/b' }] }));
    await pods.create(draft('free'));
    await bound({ list } as Cluster, 1);
    const gated = await get(podResource, 'gated');
    assert.equal(gated?.spec.nodeName, undefined);
    assert.deepEqual(
      gated?.status?.conditions?.map(({ type, reason }) => [type, reason]),
      [['PodScheduled', 'SchedulingGated']],
    );
    await edit(podResource, 'gated', ({ spec }) => {
      spec.schedulingGates = [];
    });
    await bound({ list } as Cluster, 2);
  });
});
