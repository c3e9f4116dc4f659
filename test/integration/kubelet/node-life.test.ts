/**
 * A node's own decisions: it rejects pods that do not fit, evicts pods when a resource is short, and ends
 * them when it shuts down.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Lease } from '../../../src/api/coordination/v1/lease.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { replaceable } from '../../../src/base/current.ts';
import { type DnsServedReason, dnsServedCondition } from '../../../src/features/host-names/api/dns-served.ts';
import type { ReportedConditions } from '../../../src/kubelet/node/plan/node-conditions.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { eventually, isReady } from './node-harness.ts';
import { nodeName, type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const requesting = (requests: object) => ({
  containers: [{ name: 'main', image: 'app:1', resources: { requests } }],
});
const failed = (reason: string) => (pod: Pod) =>
  pod.status?.phase === 'Failed' && pod.status.reason === reason;
const short = { ...plenty, memory: { size: 2 ** 33, available: 2 ** 20 } };

describe('a node', () => {
  let node: SimulatedNode;
  const stubborn = new Set<string>();
  const unaskable = new Set<string>();

  beforeEach(async () => {
    stubborn.clear();
    unaskable.clear();
    node = await startSimulatedNode((pod) =>
      unaskable.has(pod) ? 'refuse' : stubborn.has(pod) ? 'ignore' : 'exit',
    );
  });
  afterEach(() => node.close());

  const ready = async () =>
    eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));

  async function nextHeartbeat() {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`;
    const renewed = async () => (await node.server.call('GET', path)).json<Lease>().spec?.renewTime;
    const before = await renewed();
    await eventually(async () => assert.notEqual(await renewed(), before));
  }

  it('reserves resources as configured, and its Lease has the configured duration', async () => {
    node.start({ systemReserved: { cpu: '500m', memory: '1Gi' }, heartbeatMs: 1500 });
    await ready();
    const { status } = await node.node();
    assert.equal(status?.capacity?.cpu, '2');
    assert.equal(status?.allocatable?.cpu, '1500m');
    assert.equal(status?.allocatable?.memory, '7Gi');
    await eventually(async () => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`;
      const { spec } = (await node.server.call('GET', path)).json<Lease>();
      assert.equal(spec?.leaseDurationSeconds, 6);
    });
  });

  it('kills a container that the engine cannot stop, when its grace period is over', async () => {
    unaskable.add('deaf');
    node.start();
    await ready();
    await node.createPod('deaf', {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'app:1' }],
    });
    await node.waitFor('deaf', isReady);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/deaf');
    await eventually(async () =>
      assert.equal((await node.server.call('GET', '/api/v1/namespaces/default/pods/deaf')).status, 404),
    );
    assert.match(
      node.events.join('\n'),
      /FailedKillPod error killing pod: failed to "KillContainer" for "main"/,
    );
  });

  it('reports conditions of its other components, such as DNS, at once', async () => {
    const served = (reason: DnsServedReason) => ({
      DnsServed: dnsServedCondition({ reason, message: reason }),
    });
    const conditions = replaceable<ReportedConditions>(served('Serving'));
    node.start({ conditions, heartbeatMs: 3_600_000 });
    await ready();
    assert.equal((await node.condition('DnsServed')).status, 'True');
    conditions.replace(served('PortTaken'));
    await eventually(async () => assert.equal((await node.condition('DnsServed')).reason, 'PortTaken'));
    assert.equal((await node.condition('Ready')).status, 'True');
    conditions.replace(served('NothingToServe'));
    await eventually(async () => {
      const types = (await node.node()).status?.conditions?.map(({ type }) => type);
      assert.deepEqual(types, ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);
    });
  });

  it('leaves extended resources as other clients advertise them, and writes its status once for each change', async () => {
    node.start({ heartbeatMs: 50 });
    await ready();
    const advertise = (amount: string | null) =>
      node.server.call(
        'PATCH',
        `/api/v1/nodes/${nodeName}/status`,
        { status: { capacity: { 'example.com/gpu': amount } } },
        { headers: { 'content-type': 'application/merge-patch+json' } },
      );
    const allocatable = (amount: string | undefined) =>
      eventually(async () => {
        const { status } = await node.node();
        assert.equal(status?.allocatable?.['example.com/gpu'], amount);
        assert.equal(status?.capacity?.['example.com/gpu'], amount);
        assert.equal(status?.capacity?.cpu, '2');
      });
    await advertise('4');
    await allocatable('4');
    const { resourceVersion } = (await node.node()).metadata;
    for (let beats = 0; beats < 3; beats++) await nextHeartbeat();
    assert.equal((await node.node()).metadata.resourceVersion, resourceVersion);
    await advertise('5');
    await allocatable('5');
    await advertise(null);
    await allocatable(undefined);
  });

  it('does not start if more is reserved than exists', async () => {
    const kubelet = node.start({ systemReserved: { cpu: '3' } });
    await assert.rejects(kubelet.run(AbortSignal.timeout(120_000)), {
      message: 'system-reserved: cpu=3 is more than this machine has (2)',
    });
  });

  it('rejects a pod that does not fit, and accepts it when it is created again with room for it', async () => {
    node.start();
    await ready();
    await node.createPod('large', requesting({ cpu: '1500m' }));
    await node.waitFor('large', isReady);
    await node.createPod('late', requesting({ cpu: '600m' }));
    const late = await node.waitFor('late', failed('OutOfcpu'));
    assert.match(late.status?.message ?? '', /requested: 600, used: 1500, capacity: 2000$/);
    assert.equal(late.status?.containerStatuses, undefined);
    assert.ok(node.events.some((event) => event.startsWith('OutOfcpu ')));
    assert.deepEqual(await node.running('late'), []);
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/large?gracePeriodSeconds=1');
    await eventually(async () => {
      const { status } = await node.server.call('GET', '/api/v1/namespaces/default/pods/large');
      assert.equal(status, 404);
    });
    await node.createPod('again', requesting({ cpu: '600m' }));
    await node.waitFor('again', isReady);
  });

  it('keeps a running pod across its own restart, even if the pod would not be admitted anew', async () => {
    node.start();
    await ready();
    await node.createPod('old', requesting({ cpu: '2' }));
    await node.waitFor('old', isReady);
    const [container] = await node.running('old');
    await node.stop();
    node.start({ systemReserved: { cpu: '1' } });
    await eventually(async () => assert.equal((await node.node()).status?.allocatable?.cpu, '1'));
    await node.createPod('new', requesting({ cpu: '100m' }));
    await node.waitFor('new', failed('OutOfcpu'));
    assert.deepEqual(await node.running('old'), [container]);
  });

  it('evicts one pod after the other with events until the shortage ends', async () => {
    const names = ['a', 'b', 'c'];
    const running = async () => (await Promise.all(names.map((name) => node.running(name)))).flat().length;
    let enough = names.length;
    node.start({ readUsage: async () => ((await running()) > enough ? short : plenty) });
    await ready();
    for (const name of names) await node.createPod(name);
    await node.createPod('needed', { priorityClassName: 'system-node-critical' });
    for (const name of [...names, 'needed']) await node.waitFor(name, isReady);
    const evicted = (count: number) =>
      eventually(async () => {
        const pods = (await Promise.all(names.map((name) => node.pod(name)))).filter(failed('Evicted'));
        assert.equal(pods.length, count);
        return pods;
      });
    enough = 2;
    const [first] = await evicted(1);
    assert.match(
      first?.status?.message ?? '',
      /^The node was low on resource: memory. Threshold quantity: 100Mi, available: 1Mi\./,
    );
    const target = first?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(target?.reason, 'TerminationByKubelet');
    assert.deepEqual(await node.running(first?.metadata.name ?? ''), []);
    await eventually(async () => assert.equal((await node.condition('MemoryPressure')).status, 'True'));
    assert.equal((await node.condition('DiskPressure')).status, 'False');
    assert.equal(await running(), 2, 'one was enough');
    enough = 0;
    await evicted(3);
    assert.ok(isReady(await node.pod('needed')), 'what the system needs stays');
    assert.equal((await node.condition('MemoryPressure')).status, 'True', 'for five minutes more');
    assert.ok(node.events.some((event) => event.startsWith('NodeHasInsufficientMemory ')));
  });

  it('evicts pods while no API server answers, and reports the evictions afterwards', async () => {
    node.start();
    await ready();
    await node.createPod('lonely');
    await node.waitFor('lonely', isReady);
    node.cutOff();
    node.usage = short;
    await eventually(async () => assert.deepEqual(await node.running('lonely'), []));
    node.usage = plenty;
    node.reconnect();
    await node.waitFor('lonely', failed('Evicted'));
  });

  it('ends its pods when the machine shuts down, ordinary ones first, and rejects new ones', async () => {
    const kubelet = node.start();
    await ready();
    stubborn.add('slow');
    await node.createPod('plain');
    await node.createPod('slow', { terminationGracePeriodSeconds: 600 });
    await node.createPod('system', { priorityClassName: 'system-cluster-critical' });
    for (const name of ['plain', 'slow', 'system']) await node.waitFor(name, isReady);
    const down = kubelet.shutDown({ totalMs: 6000, criticalMs: 2000 });
    await node.waitFor('plain', failed('Terminated'));
    assert.equal(isReady(await node.pod('slow')), false, 'Services send it nothing more');
    assert.equal((await node.running('system')).length, 1, 'the system comes last');
    await node.createPod('late');
    assert.match(
      (await node.waitFor('late', failed('NodeShutdown'))).status?.message ?? '',
      /shutting down$/,
    );
    const condition = await node.condition('Ready');
    assert.deepEqual([condition.status, condition.message], ['False', 'node is shutting down']);
    await down;
    for (const name of ['plain', 'slow', 'system']) {
      const pod = await node.waitFor(name, failed('Terminated'));
      assert.equal(pod.status?.message, 'Pod was terminated in response to imminent node shutdown.');
      assert.deepEqual(await node.running(name), []);
    }
    // An ended pod stays ended, also for the next agent.
    await node.stop();
    node.start();
    await ready();
    assert.deepEqual(await node.running('plain'), []);
    assert.ok(failed('Terminated')(await node.pod('plain')));
  });
});
