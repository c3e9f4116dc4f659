/** A node with several masters. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoordinationV1Api, CoreV1Api } from '@kubernetes/client-node';
import { executable } from './harness/cluster.ts';
import { EtcdCluster } from './harness/etcd-cluster.ts';
import { Host } from './harness/host.ts';
import { Master, ready } from './harness/masters.ts';
import { Role } from './harness/role.ts';
import { waitFor } from './harness/wait-for.ts';

test('a node works with any master that answers, and also while none answers', async (context) => {
  const host = await Host.start(context);
  const etcd = EtcdCluster.on(host);
  await etcd.start();
  const masters = [6443, 7443].map((port) => new Master(host, `m${port}`, port, [etcd.flag]));
  const [a, b] = masters as [Master, Master];
  await Promise.all(masters.map(({ role }) => role.start(ready)));
  const lines = await waitFor('both masters in what a node is told', async () => {
    const told = await host.run(executable, 'token', 'create', '--kubeconfig', join(a.dataDir, 'admin.conf'));
    return told.includes(':6443,') && told.includes(':7443') && `${told}\n`;
  });
  const file = join(host.directory, 'node.yaml');
  const place = { 'node-name': 'worker', 'data-dir': join(host.directory, 'node'), 'node-ip': host.address };
  const more = { 'docker-socket': host.dockerSocket, 'heartbeat-interval': '1s' };
  const settings = Object.entries({ ...place, ...more }).map(([key, value]) => `${key}: ${value}\n`);
  writeFileSync(file, settings.join('') + lines, { mode: 0o600 });
  const node = new Role(host, ['node', '--config', file]);
  await node.start();
  await waitFor('the node Ready', async () => (await nodeState(a)).ready === 'True');
  await a.kubectl('create', 'deployment', 'web', '--image=minik8s/hello:1', '--replicas=2');
  const running = (master: Master, count: number) => async () => (await runningPods(master)).length === count;
  await waitFor('two pods', running(a, 2));

  await context.test('a node whose master is killed continues with the other master', async (t) => {
    const used = await masterOf(host, node.pid, masters);
    const other = used === a ? b : a;
    const before = await nodeState(other);
    await used.role.end('SIGKILL');
    const since = performance.now();
    await waitFor('a heartbeat', async () => (await nodeState(other)).renewed > before.renewed, {
      intervalMs: 10,
    });
    const heartbeat = Math.round(performance.now() - since);
    await other.kubectl('scale', 'deployment/web', '--replicas=3');
    await waitFor('a third pod', running(other, 3));
    const after = await nodeState(other);
    assert.deepEqual([after.ready, after.since], ['True', before.since], 'it was Ready all the time');
    t.diagnostic(
      `${heartbeat} ms to the next heartbeat, ${Math.round(performance.now() - since)} to a pod more`,
    );
    await used.role.start(ready);
  });

  await context.test(
    'without a master the pods of the node continue, and are the same when one returns',
    async () => {
      const before = await runningPods(a);
      await Promise.all(masters.map(({ role }) => role.end('SIGKILL')));
      const [victim] = (
        await host.docker('ps', '--quiet', '--filter', 'label=minik8s.io/role=container')
      ).split('\n');
      assert.ok(victim, 'there is a container');
      await host.docker('kill', victim);
      await waitFor('the container started again', async () => {
        const now = await host.docker('ps', '--quiet', '--filter', 'label=minik8s.io/role=container');
        return !now.includes(victim) && now.split('\n').length === before.length;
      });
      await a.role.start(ready);
      await waitFor('the node Ready', async () => (await nodeState(a)).ready === 'True');
      await waitFor('all pods', running(a, before.length));
      assert.deepEqual(await runningPods(a), before);
    },
  );
});

/** Returns the names of the running pods, sorted. */
async function runningPods(master: Master): Promise<string[]> {
  const { items } = await master
    .config()
    .makeApiClient(CoreV1Api)
    .listNamespacedPod({ namespace: 'default' });
  const running = items.filter(({ status }) =>
    status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  );
  return running.map(({ metadata }) => metadata?.name ?? '').sort();
}

async function nodeState(master: Master) {
  const config = master.config();
  const node = await config.makeApiClient(CoreV1Api).readNode({ name: 'worker' });
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const lease = await config
    .makeApiClient(CoordinationV1Api)
    .readNamespacedLease({ name: 'worker', namespace: 'kube-node-lease' });
  return {
    ready: ready?.status,
    since: ready?.lastTransitionTime?.toISOString(),
    renewed: String(lease.spec?.renewTime),
  };
}

/** Returns the master that a node is connected to. */
async function masterOf(host: Host, pid: number, masters: readonly Master[]): Promise<Master> {
  const connections = (await host.run('ss', '-Htnp', 'state', 'established')).split('\n');
  const used = masters.find(({ port }) =>
    connections.some((line) => line.includes(`:${port} `) && line.includes(`pid=${pid},`)),
  );
  if (!used) throw new Error(`the node has no connection to a master:\n${connections.join('\n')}`);
  return used;
}
