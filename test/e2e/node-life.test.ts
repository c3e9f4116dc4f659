import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Node, V1Pod, V1PodList } from '@kubernetes/client-node';
import { Cluster, executable } from './harness/cluster.ts';
import { deployHello, isReady, nameOf, readyPods, restartsOf } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const samples = join(import.meta.dirname, '../../samples/hello');

test('pods are moved or ended when their node is drained, stopped, cut off, or shut down', async (context) => {
  const cluster = await MultiCluster.start(context, {
    hosts: 3,
    nodes: [1, 2],
    nodeConfig: { 'shutdown-grace-period': '12s', 'system-reserved': { cpu: '100m', memory: '256Mi' } },
  });
  const { kubectl } = cluster;
  const [first, second] = [cluster.node('node-1'), cluster.node('node-2')];
  const ctl = (...args: string[]) =>
    cluster.hosts.at(0).run(executable, 'ctl', ...args, '--kubeconfig', cluster.kubeconfig);
  const pods = async () => (await kubectl.json<V1PodList>('get', 'pods', '-l', 'app=hello')).items;
  /** Waits until exactly `count` pods are ready, all on these nodes. */
  const readyOn = (count: number, nodes: readonly string[]) =>
    waitFor(
      `${count} ready pods on ${nodes.join(', ')}`,
      async () => {
        const ready = (await pods()).filter(isReady);
        const there = ready.every(({ spec }) => nodes.includes(spec?.nodeName ?? ''));
        return ready.length === count && there && ready;
      },
      { timeoutMs: 60_000 },
    );
  const running = async ({ host }: typeof first) =>
    (await host.docker('ps', '--quiet', '--filter', 'label=minik8s.io/role=container'))
      .split('\n')
      .filter(Boolean);

  await context.test('a node subtracts reserved resources from its allocatable ones', async () => {
    const { status } = await kubectl.json<V1Node>('get', 'node', 'node-1');
    const cpus = Number(status?.capacity?.cpu);
    assert.equal(status?.allocatable?.cpu, `${cpus * 1000 - 100}m`);
    assert.notEqual(status?.allocatable?.memory, status?.capacity?.memory);
    const types = status?.conditions?.map(({ type, status: is }) => `${type}=${is}`).sort();
    assert.deepEqual(types, [
      'DiskPressure=False',
      'MemoryPressure=False',
      'PIDPressure=False',
      'Ready=True',
    ]);
  });

  await kubectl('apply', '-f', samples);
  await readyOn(3, ['node-1', 'node-2']);

  await context.test('pods move when kubectl drains one node and ctl the other', async () => {
    assert.match(
      await kubectl('drain', 'node-1', '--ignore-daemonsets', '--timeout=60s'),
      /node\/node-1 drained/,
    );
    await readyOn(3, ['node-2']);
    await waitFor('nothing on node-1', async () => (await running(first)).length === 0);
    assert.equal(await ctl('uncordon', 'node-1'), 'node/node-1 uncordoned');
    const said = await ctl('drain', 'node-2', '--timeout=60s');
    assert.match(said, /^node\/node-2 cordoned\n(evicting pod default\/hello-.*\n){3}/);
    assert.match(said, /\nnode\/node-2 drained$/);
    await readyOn(3, ['node-1']);
    await ctl('uncordon', 'node-2');
  });

  await context.test('a taint that pods do not tolerate moves them to the other node', async () => {
    await ctl('taint', 'node', 'node-1', 'broken=yes:NoExecute');
    await readyOn(3, ['node-2']);
    await ctl('taint', 'node', 'node-1', 'broken-');
  });

  const bind = async (name: string, nodeName: string, resources: object = {}) => {
    const container = { name: 'main', image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent', resources };
    const spec = { nodeName, tolerations: [{ operator: 'Exists' }], containers: [container] };
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
    return waitFor(`an end of pod ${name}`, async () => {
      const { status } = await kubectl.json<V1Pod>('get', 'pod', name);
      return status?.phase === 'Failed' && status;
    });
  };

  await context.test('a pod that was bound by hand and does not fit is rejected by the node', async () => {
    const { reason, message } = await bind('huge', 'node-1', { requests: { cpu: '1000' } });
    assert.equal(reason, 'OutOfcpu');
    assert.match(message ?? '', /requested: 1000000, used: \d+, capacity: \d+$/);
  });

  await context.test(
    'a node that is short of memory reports it, gets no pods, and evicts its pods',
    async () => {
      // The shortage is real; only the threshold is unusual.
      await cluster.join(0, { 'eviction-hard': 'memory.available<99%', 'heartbeat-interval': '1s' });
      await waitFor('the pressure and its taint', async () => {
        const { spec, status } = await kubectl.json<V1Node>('get', 'node', 'node-0');
        const condition = status?.conditions?.find(({ type }) => type === 'MemoryPressure');
        const taint = spec?.taints?.find(({ key }) => key === 'node.kubernetes.io/memory-pressure');
        return condition?.status === 'True' && taint?.effect === 'NoSchedule';
      });
      const { reason, message } = await bind('unlucky', 'node-0');
      assert.equal(reason, 'Evicted');
      assert.match(
        message ?? '',
        /^The node was low on resource: memory\. Threshold quantity: \d+Ki, available: \d+Ki\./,
      );
      await kubectl('delete', 'node', 'node-0');
    },
  );

  await context.test(
    'a stopped node leaves its pods running, and manages them again after its start',
    async () => {
      const before = (await running(second)).sort();
      assert.equal(before.length, 3);
      assert.equal(await second.role.end('SIGTERM'), 0);
      assert.deepEqual((await running(second)).sort(), before);
      await second.role.start(/minik8s is ready/);
      assert.deepEqual((await running(second)).sort(), before);
    },
  );

  await context.test(
    'a node restarts ended containers while no master answers, also after its own restart',
    async () => {
      await cluster.master.end('SIGKILL');
      const [one, two] = await running(second);
      assert.ok(one && two);
      await second.host.docker('kill', one);
      const without = (gone: string) => async () => {
        const now = await running(second);
        return now.length === 3 && !now.includes(gone);
      };
      await waitFor('a container in its place', without(one));
      await second.role.end('SIGKILL');
      await second.host.docker('kill', two);
      await second.role.start();
      await waitFor('a container in the place of the second', without(two));
      const alone = (await running(second)).sort();
      await cluster.master.start(/^minik8s is ready: https:/m);
      await waitFor('the restarts in the status', async () => {
        const restarts = (await pods()).map((pod) => restartsOf(pod));
        return restarts.length === 3 && restarts.reduce((sum, count) => sum + count, 0) === 2;
      });
      await readyOn(3, ['node-2']);
      assert.deepEqual((await running(second)).sort(), alone, 'nothing was started twice');
    },
  );

  await context.test(
    'a machine that shuts down ends its pods first, and other nodes replace them',
    async () => {
      const old = (await pods()).map(({ metadata }) => metadata?.name ?? '');
      process.kill(second.role.pid, 'SIGPWR');
      await waitFor('the process to end', () => !second.role.running);
      assert.deepEqual(await running(second), []);
      for (const name of old) {
        const { status } = await kubectl.json<V1Pod>('get', 'pod', name);
        assert.deepEqual([status?.phase, status?.reason], ['Failed', 'Terminated']);
        assert.equal(status?.message, 'Pod was terminated in response to imminent node shutdown.');
      }
      const { status } = await kubectl.json<V1Node>('get', 'node', 'node-2');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      assert.deepEqual([ready?.status, ready?.message], ['False', 'node is shutting down']);
      await readyOn(3, ['node-1']);
    },
  );
});

test('a cluster ends its pods when its only machine shuts down', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host, flags: ['--shutdown-grace-period', '10s'] });
  const { kubectl } = cluster;
  await deployHello(cluster);
  const old = (await readyPods(cluster, 3)).map(nameOf);
  assert.equal(await cluster.end('SIGPWR', 30_000), 0);
  assert.equal(await host.docker('ps', '--quiet', '--filter', 'label=minik8s.io/role=container'), '');
  await cluster.up();
  const { items } = await kubectl.json<V1PodList>('get', 'pods', '-l', 'app=hello');
  const ended = items.filter(({ status }) => status?.reason === 'Terminated');
  assert.deepEqual(ended.map(nameOf).sort(), old.sort(), 'written before the API server ended');
  await waitFor('three others', async () => {
    const pods = (await kubectl.json<V1PodList>('get', 'pods', '-l', 'app=hello')).items;
    const ready = pods.filter(isReady).map(nameOf);
    return ready.length === 3 && !ready.some((name) => old.includes(name));
  });
});
