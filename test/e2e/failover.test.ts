/** A node whose API server stops responding without closing any connection: cut off, and frozen. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Lease, V1Node } from '@kubernetes/client-node';
import { executable } from './harness/cluster.ts';
import { EtcdCluster } from './harness/etcd-cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { kubectlFor } from './harness/kubectl.ts';
import { Role } from './harness/role.ts';
import { waitFor } from './harness/wait-for.ts';

test('a node uses the next API server when one no longer answers', async (context) => {
  const hosts = await Hosts.start(context, 2, { images: [] });
  const [plane, worker] = [hosts.at(0), hosts.at(1)];
  const etcd = EtcdCluster.on(plane);
  await etcd.start();
  const masterOn = (port: number) => {
    const dataDir = join(plane.directory, `master-${port}`);
    const place = ['--data-dir', dataDir, `--port=${port}`, `--bind-address=${plane.address}`];
    const kubectl = kubectlFor(join(dataDir, 'admin.conf'));
    return { port, dataDir, kubectl, role: new Role(plane, ['master', ...place, etcd.flag]) };
  };
  const masters = [masterOn(6443), masterOn(7443)] as const;
  for (const { role } of masters) await role.start(/^minik8s is ready: https:/m);
  const [a, b] = masters;

  const token = await plane.run(executable, 'token', 'create', '--kubeconfig', join(a.dataDir, 'admin.conf'));
  const file = join(worker.directory, 'node.yaml');
  const settings = {
    'node-name': 'worker',
    'data-dir': join(worker.directory, 'node'),
    'docker-socket': worker.dockerSocket,
    'heartbeat-interval': '2s',
    server: masters.map(({ port }) => `https://${plane.address}:${port}`),
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  writeFileSync(file, lines.join('') + token.replace(/^server: .*$/m, ''), { mode: 0o600 });
  const node = new Role(worker, ['node', '--config', file]);
  await node.start(/^minik8s is ready: node worker/m);

  /** Returns the state of the node according to the given master. */
  const state = async ({ kubectl }: (typeof masters)[number]) => {
    const { status } = await kubectl.json<V1Node>('get', 'node', 'worker');
    const { spec } = await kubectl.json<V1Lease>('get', 'lease', '-n', 'kube-node-lease', 'worker');
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return { status: ready?.status, since: ready?.lastTransitionTime, renewed: String(spec?.renewTime) };
  };

  for (const [what, other, silence, end] of [
    ['cut off', b, () => filter('-I'), () => filter('-D')],
    ['frozen', a, async () => b.role.freeze(), async () => b.role.thaw()],
  ] as const) {
    await context.test(what, async (t) => {
      const before = await state(other);
      assert.equal(before.status, 'True');
      const told = node.log.length;
      const start = performance.now();
      await silence();
      try {
        const next = `an API server does not answer; using the next one next=https://${plane.address}:${other.port}`;
        await waitFor('the node to use the next API server', () => node.log.slice(told).includes(next));
        const left = await state(other);
        await waitFor('a heartbeat', async () => (await state(other)).renewed > left.renewed);
        t.diagnostic(`${Math.round(performance.now() - start)} ms until a heartbeat by way of the other`);
      } finally {
        await end();
      }
      const after = await state(other);
      assert.deepEqual([after.status, after.since], ['True', before.since], 'it was Ready all the time');
    });
  }

  async function filter(verb: '-I' | '-D'): Promise<void> {
    const from = ['-p', 'tcp', '-s', worker.address, '--dport', String(a.port), '-j', 'DROP'];
    const to = ['-p', 'tcp', '-d', worker.address, '--sport', String(a.port), '-j', 'DROP'];
    await plane.run('iptables', '-w', verb, 'INPUT', ...from);
    await plane.run('iptables', '-w', verb, 'OUTPUT', ...to);
  }
});
