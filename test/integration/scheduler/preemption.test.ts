/** Preemption on a whole control plane, by a clock that the test moves. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { leaseResource, nodeLeaseNamespace } from '../../../src/api/coordination/v1/lease.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import {
  type PodDisruptionBudget,
  podDisruptionBudgetResource,
} from '../../../src/api/policy/v1/pod-disruption-budget.ts';
import { type PriorityClass, priorityClassResource } from '../../../src/api/scheduling/v1/priority-class.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

describe('preemption', () => {
  let cluster: Cluster | undefined;
  afterEach(() => cluster?.stop());

  async function start(nodes: Record<string, string>): Promise<Cluster> {
    const started = await startCluster();
    cluster = started;
    for (const [name, cpu] of Object.entries(nodes))
      await started.addNode(name, { cpu, memory: '8Gi', pods: '50' });
    for (const [name, value] of Object.entries({ low: 10, high: 1_000 })) {
      const draft = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value };
      await started.client.resource(priorityClassResource).create(draft as unknown as Draft<PriorityClass>);
    }
    return started;
  }

  const create = (
    { client }: Cluster,
    name: string,
    cpu: string,
    priorityClassName: string,
    spec: object = {},
  ) =>
    client.resource(podResource).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: {
        priorityClassName,
        containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }],
        ...spec,
      },
    } as unknown as Draft<Pod>);

  const placed = ({ eventually, get }: Cluster, name: string) =>
    eventually(`${name} has a node`, async () => (await get(podResource, name))?.spec.nodeName);

  it('deletes the pod of lower priority, reserves its node for the pod of higher priority, and records an event about the deleted pod', async () => {
    const made = await start({ n1: '1' });
    made.agent.mayEnd = () => false;
    await create(made, 'victim', '1', 'low');
    await placed(made, 'victim');
    await create(made, 'preemptor', '1', 'high');
    const victim = await made.eventually('the victim is being deleted', async () => {
      const pod = await made.get(podResource, 'victim');
      return pod?.metadata.deletionTimestamp ? pod : undefined;
    });
    const target = victim.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([target?.status, target?.reason], ['True', 'PreemptionByScheduler']);
    await made.eventually(
      'nominatedNodeName is set',
      async () => (await made.get(podResource, 'preemptor'))?.status?.nominatedNodeName === 'n1',
    );
    await made.eventually('the event', async () =>
      (await made.list(eventResource, 'default')).some(
        ({ reason, involvedObject }) => reason === 'Preempted' && involvedObject.name === 'victim',
      ),
    );
    assert.equal((await made.get(podResource, 'preemptor'))?.spec.nodeName, undefined);
    made.agent.mayEnd = () => true;
    await made.edit(nodeResource, 'n1', ({ metadata }) => {
      metadata.annotations = { touched: 'yes' };
    });
    await made.client.resource(podResource).delete('victim', 'default', { gracePeriodSeconds: 0 });
    assert.equal(await placed(made, 'preemptor'), 'n1');
  });

  it('chooses another node when the nominated node is lost', async () => {
    const made = await start({ n1: '1', n2: '1' });
    made.agent.mayEnd = () => false;
    await create(made, 'first', '1', 'low');
    await create(made, 'second', '1', 'low');
    await placed(made, 'first');
    await placed(made, 'second');
    await create(made, 'preemptor', '1', 'high');
    const nominated = async () => (await made.get(podResource, 'preemptor'))?.status?.nominatedNodeName;
    const before = await made.eventually('it waits on a node', nominated);
    await made.client.resource(nodeResource).delete(before);
    const other = before === 'n1' ? 'n2' : 'n1';
    assert.equal(
      await made.eventually('it waits on the other', async () => (await nominated()) === other),
      true,
    );
    for (const { metadata } of await made.list(podResource, 'default'))
      if (metadata.deletionTimestamp)
        await made.client.resource(podResource).delete(metadata.name, 'default', { gracePeriodSeconds: 0 });
    assert.equal(await placed(made, 'preemptor'), other);
  });

  it('uses another node when its node stops reporting before there is room, and deletes no pod twice', async () => {
    const made = await start({ n1: '2', n2: '2' });
    const leases = made.client.resource(leaseResource);
    for (const name of ['n1', 'n2'])
      await leases.create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: nodeLeaseNamespace },
        spec: { holderIdentity: name, leaseDurationSeconds: 40 },
      });
    let beats = 0;
    const beat = async (...names: string[]) => {
      const spec = { renewTime: rfc3339Micro(++beats * 1000) };
      for (const name of names) await leases.patch(name, nodeLeaseNamespace, 'merge', { spec });
    };
    const low = ['a', 'b', 'c', 'd'];
    for (const name of low) await create(made, name, '1', 'low');
    for (const name of low) await placed(made, name);
    /** Node whose agent is dead: nothing confirms the end of its pods. */
    let dead = 'n1';
    made.agent.mayEnd = ({ spec }) => spec.nodeName !== dead;
    await made.client.resource(nodeResource).patch('n2', '', 'merge', { spec: { unschedulable: true } });
    await create(made, 'preemptor', '1', 'high');
    const nominated = async () => (await made.get(podResource, 'preemptor'))?.status?.nominatedNodeName;
    await made.eventually('it waits on n1', async () => (await nominated()) === 'n1');
    const ending = async () =>
      (await made.list(podResource, 'default')).filter(({ metadata }) => metadata.deletionTimestamp);
    const [first, ...more] = await ending();
    assert.ok(first);
    assert.deepEqual(more, []);
    await made.client.resource(nodeResource).patch('n2', '', 'merge', { spec: { unschedulable: null } });

    for (let passed = 0; passed < 60_000; passed += 10_000) {
      await beat('n2');
      await made.pass(10_000);
    }
    const silent = (await made.get(nodeResource, 'n1'))?.spec.taints ?? [];
    assert.ok(silent.some(({ key }) => key === 'node.kubernetes.io/unreachable'));
    assert.equal(await placed(made, 'preemptor'), 'n2');
    const there = await made.get(podResource, 'preemptor');

    dead = '';
    await beat('n1', 'n2');
    await made.edit(nodeResource, 'n1', ({ metadata }) => {
      metadata.annotations = { back: 'yes' };
    });
    await made.eventually('the first victim ends', async () => (await ending()).length === 0);
    for (let passed = 0; passed < 30_000; passed += 10_000) {
      await beat('n1', 'n2');
      await made.pass(10_000);
    }
    // One pod on each node was evicted once: the second because the first node could not answer.
    const left = (await made.list(podResource, 'default')).filter(({ metadata }) =>
      low.includes(metadata.name),
    );
    assert.equal(left.length, 2);
    assert.deepEqual(left.map(({ spec }) => spec.nodeName).sort(), ['n1', 'n2']);
    const told = (await made.list(eventResource, 'default')).filter(({ reason }) => reason === 'Preempted');
    assert.deepEqual(
      told.map(({ count }) => count),
      [1, 1],
    );
    assert.deepEqual(
      told.map(({ involvedObject }) => involvedObject.name).sort(),
      low.filter((name) => !left.some(({ metadata }) => metadata.name === name)),
    );
    assert.equal((await made.get(podResource, 'preemptor'))?.metadata.uid, there?.metadata.uid);
  });

  it('avoids pods that a disruption budget protects if it can', async () => {
    const made = await start({ n1: '1', n2: '1' });
    const budgets = made.client.resource(podDisruptionBudgetResource);
    await budgets.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    } as unknown as Draft<PodDisruptionBudget>);
    await create(made, 'guarded', '1', 'low');
    const node = await placed(made, 'guarded');
    await create(made, 'plain', '1', 'low');
    const free = await placed(made, 'plain');
    assert.notEqual(node, free);
    await create(made, 'preemptor', '1', 'high');
    assert.equal(await placed(made, 'preemptor'), free);
    assert.ok(await made.get(podResource, 'guarded'));
  });

  it('is not used for pods of a class with preemptionPolicy Never', async () => {
    const made = await start({ n1: '1' });
    const draft = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'polite' },
      value: 1_000,
      preemptionPolicy: 'Never',
    };
    await made.client.resource(priorityClassResource).create(draft as unknown as Draft<PriorityClass>);
    await create(made, 'low', '1', 'low');
    await placed(made, 'low');
    await create(made, 'polite', '1', 'polite');
    await made.eventually('the pending pod is reported', async () =>
      (await made.get(podResource, 'polite'))?.status?.conditions?.some(({ message }) =>
        message?.includes('preemptionPolicy=Never'),
      ),
    );
    assert.equal((await made.get(podResource, 'low'))?.metadata.deletionTimestamp, undefined);
  });

  it('leaves out a pod with an unknown scheduling policy or a missing claim, whose condition has the reason', async () => {
    const made = await start({ n1: '4' });
    const annotated = {
      name: 'odd',
      namespace: 'default',
      annotations: { 'minik8s.io/scheduling-policy': 'Best' },
    };
    const containers = [{ name: 'app', image: 'app:1' }];
    const pods = made.client.resource(podResource);
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: annotated,
      spec: { containers },
    } as unknown as Draft<Pod>);
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'none' } }];
    const metadata = { name: 'claiming', namespace: 'default' };
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers, volumes },
    } as unknown as Draft<Pod>);
    const told = (name: string, text: string) =>
      made.eventually(text, async () =>
        (await made.get(podResource, name))?.status?.conditions?.some(({ message }) =>
          message?.includes(text),
        ),
      );
    await told('odd', '"Best" does not exist; use one of Default, RoundRobin');
    await told('claiming', '0/1 nodes are available: persistentvolumeclaim "none" not found.');
  });
});
