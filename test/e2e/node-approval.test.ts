import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreV1EventList, V1CertificateSigningRequestList } from '@kubernetes/client-node';
import { Cluster, executable } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

test('a machine joins after an administrator approves it', async (context) => {
  const cluster = await MultiCluster.start(context, {
    hosts: 2,
    nodes: [],
    masterFlags: ['--node-approval', 'manual'],
  });
  const { kubectl } = cluster;
  const statusOf = async (name: string) =>
    (await kubectl.attempt(['get', 'node', name, '--no-headers'])).stdout.split(/\s+/)[1];
  const node = await cluster.prepare(1, { 'pod-cidr': '10.244.77.0/24' });
  const rangeOf = (name: string) => kubectl('get', 'node', name, '-o', 'jsonpath={.spec.podCIDR}');

  await context.test('a machine with a token is Pending and waits', async () => {
    await node.role.start();
    await waitFor('a pending node', async () => (await statusOf('node-1')) === 'Pending');
    await waitFor('the report of the machine', async () => /ctl add node node-1/.test(node.role.log));
    const { items } = await kubectl.json<V1CertificateSigningRequestList>('get', 'csr');
    assert.deepEqual(
      items.map(({ status }) => status?.conditions ?? []),
      [[]],
    );
    assert.equal(await statusOf('node-1'), 'Pending');
  });

  await context.test('the machine becomes a node once an administrator approves it', async () => {
    const { items } = await kubectl.json<V1CertificateSigningRequestList>('get', 'csr');
    await kubectl('certificate', 'approve', items[0]?.metadata?.name ?? '');
    await cluster.untilReady(node);
    assert.equal(await rangeOf('node-1'), '10.244.77.0/24', 'the one it was told');
  });

  await context.test(
    'the approved node runs a pod that needs a Secret, and records an event about it',
    async () => {
      await kubectl('create', 'secret', 'generic', 'wanted', '--from-literal=COLOUR=green');
      const container = {
        name: 'hello',
        image: 'minik8s/hello:1',
        imagePullPolicy: 'Never',
        envFrom: [{ secretRef: { name: 'wanted' } }],
      };
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { containers: [container] },
      };
      await kubectl('run', 'p', '--image=minik8s/hello:1', `--overrides=${JSON.stringify(pod)}`);
      await kubectl('wait', '--for=condition=Ready', 'pod/p', '--timeout=60s');
      const about = ['--field-selector', 'involvedObject.name=p,reason=Started'];
      await waitFor('the node’s event', async () => {
        const { items } = await kubectl.json<CoreV1EventList>('get', 'events', ...about);
        return items.some(({ source }) => source?.host === 'node-1');
      });
    },
  );

  await context.test('no request of the approved node was forbidden', () => {
    assert.doesNotMatch(node.role.log, /forbidden/);
  });

  await context.test('a node that was deleted does not rejoin, even when it restarts', async () => {
    await kubectl('delete', 'node', 'node-1');
    await waitFor('the machine to notice', async () => /was deleted from the cluster/.test(node.role.log));
    await node.role.end('SIGTERM');
    const before = node.role.log.length;
    await node.role.start();
    const told = () => node.role.log.slice(before);
    await waitFor('the next report of the machine', async () => /ctl add node node-1/.test(told()));
    assert.equal(await statusOf('node-1'), undefined);
  });

  await context.test('a deleted node works again after an administrator adds it again', async () => {
    await node.host.run(executable, 'ctl', '--kubeconfig', cluster.kubeconfig, 'add', 'node', 'node-1');
    await cluster.untilReady(node);
    assert.equal(await rangeOf('node-1'), '10.244.77.0/24');
  });
});

test('the machine of `up` needs no approval, and its output has the address for other machines', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host, flags: ['--node-approval', 'manual'] });
  const { stdout } = await cluster.kubectl.attempt(['get', 'nodes', '--no-headers']);
  assert.match(stdout, /^e2e +Ready +/);
  const told = await host.run(executable, 'token', 'create', '--kubeconfig', cluster.kubeconfig);
  assert.match(told, new RegExp(`^server: https://${host.address.replaceAll('.', '\\.')}:6443\n`));
});
