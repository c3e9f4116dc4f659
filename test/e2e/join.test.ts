import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1CertificateSigningRequestList, V1Node, V1Pod, V1Taint } from '@kubernetes/client-node';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { executable } from './harness/cluster.ts';
import { type End, endOf } from './harness/end-of.ts';
import type { Host } from './harness/host.ts';
import { type ClusterNode, MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

/** Returns everything that minik8s has put on a host besides its data directory. */
async function tracesOn(host: Host): Promise<string[]> {
  const [containers, tables, links, rules, routes] = await Promise.all([
    host.docker('ps', '--all', '--quiet', '--filter', 'label=minik8s.io/node'),
    host.run('nft', 'list', 'tables'),
    host.run('ip', '-brief', 'link'),
    host.run('iptables', '-w', '-S'),
    host.run('ip', 'route', 'show', 'proto', '107'),
  ]);
  return [
    ...containers.split('\n'),
    ...tables.split('\n').filter((line) => line.includes('minik8s')),
    ...links.split('\n').filter((line) => /^(mk8s|minik8s)/.test(line)),
    ...rules.split('\n').filter((line) => line.includes('MINIK8S')),
    ...routes.split('\n'),
  ].filter((line) => line !== '');
}

/** Returns false for the taints that the control plane adds and removes. */
const isOwn = ({ key }: V1Taint) => !key.startsWith('node.kubernetes.io/');

/** Creates a pod that runs on that node until it is deleted. */
async function runPod({ kubectl }: MultiCluster, { name, host }: ClusterNode): Promise<void> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'hello' },
    spec: {
      nodeName: name,
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 2,
      containers: [
        { name: 'hello', image: 'minik8s/hello:1', command: ['sh', '-c', 'echo here I am; sleep 1000'] },
      ],
    },
  };
  const file = join(host.directory, 'pod.json');
  writeFileSync(file, JSON.stringify(pod));
  await kubectl('create', '-f', file);
  await waitFor('the pod running', async () => {
    const { status } = await kubectl.json<V1Pod>('get', 'pod', 'hello');
    return status?.phase === 'Running';
  });
}

test('a machine joins with one file, runs pods, and is removed from the cluster', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2, nodes: [] });
  const { kubectl } = cluster;
  const node = await cluster.prepare(1, {
    labels: { disk: 'ssd', 'node.kubernetes.io/pool': 'a' },
    taints: ['only=mine:NoSchedule'],
    'system-reserved': { cpu: '100m', memory: '256Mi' },
    'pod-cidr': '10.244.77.0/24',
  });
  const own = () => kubectl.json<V1Node>('get', 'node', 'node-1');

  await context.test('a node that is repeatedly killed while it joins joins in the end', async () => {
    for (const ms of [100, 300, 500, 700, 900, 1100]) {
      await node.role.start();
      await pause(ms);
      await node.role.end('SIGKILL');
    }
    await node.role.start(/^minik8s is ready: node node-1 of https:/m);
    await cluster.untilReady(node);
    const files = readdirSync(join(node.dataDir, 'node')).sort();
    assert.deepEqual(files, ['ca.crt', 'client.pem', 'serving.pem']);
    for (const file of ['client.pem', 'serving.pem']) {
      assert.equal(statSync(join(node.dataDir, 'node', file)).mode & 0o777, 0o600);
    }
  });

  await context.test('the Node has the settings of the file', async () => {
    const { metadata, spec, status } = await own();
    assert.equal(metadata?.labels?.disk, 'ssd');
    assert.equal(metadata?.labels?.['node.kubernetes.io/pool'], 'a');
    assert.deepEqual(
      spec?.taints?.filter(isOwn).map(({ key, value, effect }) => `${key}=${value}:${effect}`),
      ['only=mine:NoSchedule'],
    );
    assert.equal(spec?.podCIDR, '10.244.77.0/24');
    const cpus = Number(status?.capacity?.cpu);
    assert.equal(status?.allocatable?.cpu, `${cpus * 1000 - 100}m`);
    assert.notEqual(status?.allocatable?.memory, status?.capacity?.memory);
  });

  await context.test('the log and the arguments of the node do not contain the token', () => {
    const [token = ''] =
      /[a-z0-9]{6}\.[a-z0-9]{16}/.exec(readFileSync(join(node.host.directory, 'node-1.yaml'), 'utf8')) ?? [];
    assert.ok(token);
    assert.equal(node.role.log.includes(token.slice(7)), false);
    assert.equal(readFileSync(`/proc/${node.role.pid}/cmdline`, 'utf8').includes(token.slice(7)), false);
  });

  await context.test(
    'the master connects to the agent of the node by the certificate that the node requested',
    async () => {
      await runPod(cluster, node);
      await waitFor('the log of the pod', async () => (await kubectl('logs', 'hello')) === 'here I am\n');
    },
  );

  await context.test('a joined node starts again without its token as the same node', async () => {
    const before = await kubectl.json<V1CertificateSigningRequestList>('get', 'csr');
    await node.role.end('SIGTERM');
    const file = join(node.host.directory, 'node-1.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^token: .*\n/m, ''));
    const { uid } = (await own()).metadata ?? {};
    await node.role.start(/^minik8s is ready: node node-1/m);
    await cluster.untilReady(node);
    assert.equal((await own()).metadata?.uid, uid);
    const after = await kubectl.json<V1CertificateSigningRequestList>('get', 'csr');
    assert.equal(after.items.length, before.items.length);
  });

  await context.test('a node that was deleted while it was down starts again', async () => {
    const container = ['ps', '--all', '--quiet', '--filter', 'label=minik8s.io/role=container'] as const;
    assert.notEqual(await node.host.docker(...container), '');
    await node.role.end('SIGTERM');
    await kubectl('delete', 'node', 'node-1');
    await kubectl('delete', 'pod', 'hello', '--force', '--grace-period=0');
    const before = node.role.log.length;
    await node.role.start(/^minik8s is ready: node node-1/m);
    const log = node.role.log.slice(before);
    assert.match(log, /the Node of this machine was deleted; stopping its pods/);
    assert.equal(await node.host.docker(...container), '');
    await cluster.untilReady(node);
    await runPod(cluster, node);
  });

  await context.test(
    'when its Node is deleted, a machine ends its pods, removes its rules, and logs the reason',
    async () => {
      await kubectl('delete', 'node', 'node-1');
      await waitFor('the report of the machine', async () =>
        /^node node-1 was deleted from the cluster: .* ctl add node node-1 /m.test(node.role.log),
      );
      assert.deepEqual(await tracesOn(node.host), []);
      assert.equal((await kubectl.attempt(['get', 'node', 'node-1'])).code, 1);
      assert.ok(node.role.running);
    },
  );

  await context.test('a node works again after an administrator creates its Node again', async () => {
    const again = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
    const file = join(node.host.directory, 'again.json');
    writeFileSync(file, JSON.stringify(again));
    await kubectl('create', '-f', file);
    await cluster.untilReady(node);
    const { metadata, spec } = await own();
    assert.equal(metadata?.labels?.disk, 'ssd');
    assert.deepEqual(
      spec?.taints?.filter(isOwn).map(({ key }) => key),
      ['only'],
    );
  });

  await context.test('reset removes all traces of a node', async () => {
    await kubectl.attempt(['delete', 'pod', 'hello', '--force', '--grace-period=0']);
    await runPod(cluster, node);
    await node.role.end('SIGKILL');
    const config = join(node.host.directory, 'node-1.yaml');
    const { code, stderr } = await endOf(
      node.host.command(executable, ['reset', '--yes', '--config', config]),
    );
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await tracesOn(node.host), []);
    assert.equal(existsSync(node.dataDir), false);
  });
});

test('a machine that cannot join reports why in one line, and leaves nothing behind', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2, nodes: [0] });
  const host = cluster.hosts.at(1);
  const dataDir = join(host.directory, 'node');
  const good: Record<string, string> = Object.fromEntries(
    (await cluster.token())
      .split('\n')
      .map((line) => /^([a-z-]+): (.*)$/.exec(line)?.slice(1) ?? [])
      .filter(([key]) => key !== undefined),
  );
  assert.deepEqual(Object.keys(good).sort(), ['ca-cert-hash', 'server', 'token']);

  const attempt = (config: Readonly<Record<string, unknown>>, program: readonly string[] = [executable]) => {
    const all = {
      ...good,
      'node-name': 'x',
      'data-dir': dataDir,
      'docker-socket': host.dockerSocket,
      ...config,
    };
    const lines = Object.entries(all).map(([key, value]) =>
      typeof value === 'string' && value.startsWith('[')
        ? `${key}: ${value}\n`
        : `${key}: ${JSON.stringify(value)}\n`,
    );
    const file = join(host.directory, 'x.yaml');
    writeFileSync(file, lines.join(''), { mode: 0o600 });
    const [first = '', ...rest] = program;
    return endOf(host.command(first, [...rest, 'node', '--config', file]));
  };
  const oneLine = ({ code, stdout, stderr }: End, ...says: RegExp[]) => {
    const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
    assert.equal(errors.length, 1, stderr);
    for (const expected of says) assert.match(errors[0] ?? '', expected);
    assert.doesNotMatch(stderr, /\n\s+at /);
    assert.equal(stdout, '');
    assert.ok(code === 1 || code === 2, String(code));
    const joined = join(dataDir, 'node/client.pem');
    assert.equal(existsSync(joined), false, 'half joined');
  };

  const [id = ''] = (good.token ?? '').split('.');
  const cases: readonly [string, Readonly<Record<string, unknown>>, ...RegExp[]][] = [
    [
      'an unknown token',
      { token: 'zzzzzz.0123456789abcdef' },
      /the token is wrong or has expired; put a new token/,
    ],
    ['a wrong secret', { token: `${id}.0123456789abcdef` }, /the token is wrong or has expired/],
    [
      'another authority',
      { 'ca-cert-hash': `sha256:${'0'.repeat(64)}` },
      /presents an authority with the hash sha256:/,
      troubleText('it belongs to another cluster'),
    ],
    [
      'no master at the address',
      { server: [`https://${host.address}:6443`, 'https://127.0.0.1:1'] },
      /no API server answers: https:\/\/198\.19\.\d+\.11:6443 \(connection refused\), https:\/\/127\.0\.0\.1:1/,
      troubleText('no API server answers'),
    ],
    [
      'the name of a living node',
      { 'node-name': 'node-0' },
      /duplicate node name: .*node-0.* choose another/,
    ],
    [
      'an address of another machine',
      { 'node-ip': '192.0.2.99' },
      /node-ip 192\.0\.2\.99 is not an address of/,
    ],
    ['no Docker', { 'docker-socket': '/nowhere/docker.sock' }, /no Docker engine answers at \/nowhere/],
    [
      'a pod range that contains the machine’s address',
      { 'cluster-cidr': '198.19.0.0/16' },
      /address 198\.19\.\d+\.11 of this machine's eth0 lies in cluster-cidr 198\.19\.0\.0\/16; give the master/,
    ],
    [
      'a pod range of its own outside of the cluster’s range',
      { 'pod-cidr': '10.9.0.0/24' },
      /pod-cidr 10\.9\.0\.0\/24 does not lie in cluster-cidr 10\.244/,
    ],
    ['no token', { token: '' }, /token: expected a token as `minik8s token create` prints it/],
    ['a bad name', { 'node-name': 'Not A Name' }, /node-name "Not A Name": /],
    ['a misspelt key', { lables: {} }, /x\.yaml: line \d+: lables: no such setting/],
  ];
  for (const [what, config, ...says] of cases) {
    await context.test(what, async () => {
      oneLine(await attempt(config), ...says);
      assert.deepEqual(await tracesOn(host), []);
    });
  }

  await context.test('a join with an expired token fails', async () => {
    const [, token = ''] = /^token: (\S+)$/m.exec(await cluster.token()) ?? [];
    assert.ok(token);
    const over = JSON.stringify({ stringData: { expiration: '2026-01-01T00:00:00Z' } });
    const name = `bootstrap-token-${token.slice(0, 6)}`;
    await cluster.kubectl('patch', 'secret', name, '-n', 'kube-system', '-p', over);
    oneLine(await attempt({ token }), /the token is wrong or has expired/);
  });

  await context.test('a join without nft fails', async () => {
    const bare = ['env', `PATH=${host.directory}`, executable];
    oneLine(
      await attempt({}, bare),
      /nft is not there on this machine .* install it \(apt-get install nftables\)/,
    );
  });

  await context.test('a join with a wrong clock fails', async () => {
    // Time cannot be set for one process, but the start of the program can be set to the past, when the
    // master's certificate authority is not yet valid.
    const past = ['faketime', '-f', '-2y', executable];
    oneLine(
      await attempt({}, past),
      /the clock of this machine is \d+ d .* behind that of https/,
      /timedatectl/,
    );
  });

  await context.test('a join with a Service range that differs from the cluster’s fails', async () => {
    // A machine receives the cluster's settings only after it has joined, so it has its certificate by then.
    const own = { 'data-dir': join(host.directory, 'elsewhere') };
    oneLine(
      await attempt({ ...own, 'service-cidr': '10.97.0.0/16' }),
      /service-cidr 10\.97\.0\.0\/16 is not that of the cluster: the Service kubernetes has address 10\.96\.0\.1, not 10\.97\.0\.1/,
    );
    oneLine(
      await attempt({ ...own, 'cluster-dns': '10.96.0.53' }),
      /cluster-dns 10\.96\.0\.53 is not that of the cluster: .* give this node cluster-dns: 10\.96\.0\.10/,
    );
    oneLine(
      await attempt({ ...own, 'cluster-domain': 'lab.internal' }),
      /cluster-domain lab\.internal is not that of the cluster: .* give this node cluster-domain: cluster\.local/,
    );
    assert.deepEqual(await tracesOn(host), []);
  });

  await context.test('no machine that failed to join is a node', async () => {
    const { items } = await cluster.kubectl.json<{ items: V1Node[] }>('get', 'nodes');
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['node-0'],
    );
  });

  await context.test(
    'the machine can still join with an older file, and prints the new form of its settings',
    async () => {
      const node = await cluster.prepare(1, { 'data-dir': dataDir });
      const file = join(host.directory, 'node-1.yaml');
      const settings = readFileSync(file, 'utf8').replace(/^node-name: .*\n/m, '');
      writeFileSync(file, `Name: older\nLabels:\n  disk: ssd\n  zone: b\n${settings}`);
      await node.role.start(/^minik8s is ready: node older of https:/m);
      assert.deepEqual(node.role.log.match(/^warning: .*$/gm), [
        `warning: ${file}: Name: is an older spelling; write node-name:`,
        `warning: ${file}: Labels: is an older spelling; write labels:`,
      ]);
      // Nothing is listed or watched before this machine is authorized.
      assert.doesNotMatch(node.role.log, /forbidden|list and watch failed/);
      const { metadata } = await cluster.kubectl.json<V1Node>('get', 'node', 'older');
      assert.deepEqual([metadata?.labels?.disk, metadata?.labels?.zone], ['ssd', 'b']);
    },
  );
});
