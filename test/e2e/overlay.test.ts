/**
 * Traffic between pods, nodes and outside machines on three machines, and the source address that each server
 * sees.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import type { Host } from './harness/host.ts';
import { type ClusterNode, MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

/** `/cgi-bin/who` answers with the pod's name and the client's address, `/big` with 20 MB. */
const whoScript = `
  mkdir -p /www/cgi-bin
  printf '#!/bin/sh\\nprintf "Content-Type: text/plain\\\\r\\\\n\\\\r\\\\n"\\necho "$HOSTNAME $REMOTE_ADDR"\\n' >/www/cgi-bin/who
  chmod 755 /www/cgi-bin/who
  dd if=/dev/zero of=/www/big bs=1M count=20 2>/dev/null
  exec httpd -f -p 8080 -h /www`;

const bigBytes = 20 * 1024 * 1024;

const podOn = (node: ClusterNode, name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'who' } },
  spec: {
    nodeName: node.name,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'who',
        image: 'minik8s/hello:1',
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', whoScript],
      },
    ],
  },
});

const nodePort = 30080;
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'who' },
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.80',
    selector: { app: 'who' },
    ports: [{ port: 80, targetPort: 8080, nodePort }],
  },
};

interface Pod {
  readonly name: string;
  readonly ip: string;
  readonly node: ClusterNode;
  readonly container: string;
}

/** A client that requests pages: a pod, a node, or this machine, which is neither. */
interface Asker {
  readonly what: string;
  get(url: string): Promise<string>;
}

const inPod = ({ name, node, container }: Pod): Asker => ({
  what: name,
  get: (url) => node.host.docker('exec', container, 'timeout', '5', 'wget', '-q', '-O', '-', url),
});

const onHost = ({ host }: { readonly host: Host }): Asker => ({
  what: host.name,
  get: (url) => host.run('curl', '-sS', '--max-time', '3', url),
});

const outside: Asker = {
  what: 'outside',
  get: async (url) => (await systemExec('curl', ['-sS', '--max-time', '3', url])).stdout.trim(),
};

/** Returns the pod that answered, and the client address that it saw. */
async function who(asker: Asker, address: string): Promise<{ readonly name: string; readonly seen: string }> {
  const answer = await asker.get(`http://${address}/cgi-bin/who`);
  const [, name, seen] = /^(\S+) (\S+)$/.exec(answer.trim()) ?? [];
  if (!name || !seen) throw new Error(`${asker.what} got from ${address}: ${answer}`);
  // A listener for both families reports an IPv4 address in IPv6 notation.
  return { name, seen: seen.replace(/^\[?(::ffff:)?([\d.]+)\]?$/, '$2') };
}

/**
 * Repeats requests until each of the pods has answered. Returns the client address that each pod saw, always
 * the same for a pod.
 */
async function everyone(
  asker: Asker,
  address: string,
  pods: readonly Pod[],
): Promise<Record<string, string>> {
  const seen = new Map<string, string>();
  await waitFor(`answers of all to ${asker.what} at ${address}`, async () => {
    const answer = await who(asker, address);
    assert.ok([undefined, answer.seen].includes(seen.get(answer.name)), `${answer.name} sees two callers`);
    seen.set(answer.name, answer.seen);
    return seen.size === pods.length;
  });
  return Object.fromEntries([...seen].sort());
}

async function startPod(cluster: MultiCluster, node: ClusterNode, name: string): Promise<Pod> {
  const { kubectl } = cluster;
  await kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(podOn(node, name)) });
  const ip = await waitFor(`pod ${name} ready`, async () => {
    const { status } = await kubectl.json<V1Pod>('get', 'pod', name);
    const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
    return ready === true && status?.podIP;
  });
  const labels = [`io.kubernetes.pod.name=${name}`, 'io.kubernetes.container.name=who'];
  const container = await node.host.docker(
    'ps',
    '-q',
    ...labels.flatMap((label) => ['--filter', `label=${label}`]),
  );
  const pod = { name, ip, node, container };
  await waitFor(`pod ${name} answering`, () => who(onHost(node), `${ip}:8080`));
  return pod;
}

/** Starts a server that answers with the client's address, outside of any pod. */
async function listen(context: TestContext, host: Host | undefined, port: number): Promise<void> {
  const program = `require('node:http').createServer((request, answer) => {
    answer.end('server ' + request.socket.remoteAddress);
  }).listen(${port}, '0.0.0.0')`;
  const [file, args] = host
    ? host.command(process.execPath, ['-e', program])
    : ([process.execPath, ['-e', program]] as const);
  const child = spawn(file, args, { stdio: 'ignore' });
  context.after(() => void child.kill());
  const asker = host ? onHost({ host }) : outside;
  await waitFor(`the server on port ${port}`, () => who(asker, `127.0.0.1:${port}`));
}

const overlayAddressOf = (ranges: ReadonlyMap<string, string>, node: ClusterNode) =>
  ranges.get(node.name)?.split('/')[0] ?? '';

async function podRanges({ kubectl }: MultiCluster): Promise<ReadonlyMap<string, string>> {
  const { items } = await kubectl.json<{ readonly items: readonly V1Node[] }>('get', 'nodes');
  return new Map(items.map(({ metadata, spec }) => [metadata?.name ?? '', spec?.podCIDR ?? '']));
}

/** Runs a program of the machine in the pod's network. */
async function inNetworkOf({ node, container }: Pod, program: string, ...args: string[]): Promise<string> {
  const pid = await node.host.docker('inspect', '-f', '{{.State.Pid}}', container);
  return (await systemExec('nsenter', [`--net=/proc/${pid}/ns/net`, program, ...args], { timeoutMs: 60_000 }))
    .stdout;
}

const holds = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  );

/** Returns the ranges that a host has a route to, over the overlay or not. */
const waysOf = async (host: Host) =>
  (await host.run('ip', '-json', 'route', 'show', 'proto', '107')).match(/10\.244\.\d+\.0\/24/g)?.sort() ??
  [];

test('pods, nodes and outside machines reach each other on three machines over VXLAN', async (context) => {
  const cluster = await MultiCluster.start(context);
  const { kubectl, hosts } = cluster;
  const nodes = cluster.nodes;
  const ranges = await podRanges(cluster);
  assert.equal(new Set(ranges.values()).size, 3);
  const pods = await Promise.all(nodes.map((node) => startPod(cluster, node, `who-${node.name}`)));
  const [first, second, third] = pods;
  const [node0, node1, node2] = nodes;
  assert.ok(first && second && third && node0 && node1 && node2);
  const pageOf = ({ ip }: Pod) => `${ip}:8080`;

  await context.test('a pod on any node reaches pods on every node with its own source address', async () => {
    for (const from of pods) {
      for (const to of pods)
        assert.deepEqual(await who(inPod(from), pageOf(to)), { name: to.name, seen: from.ip });
    }
  });

  await context.test('a pod reaches a pod on the same node', async () => {
    const beside = await startPod(cluster, node0, 'beside');
    assert.equal((await who(inPod(beside), pageOf(first))).seen, beside.ip);
    assert.equal((await who(inPod(first), pageOf(beside))).seen, first.ip);
    await kubectl('delete', 'pod', 'beside');
  });

  await context.test('a node reaches pods of another node with its address on the overlay', async () => {
    for (const node of nodes) {
      for (const pod of pods.filter((each) => each.node !== node)) {
        assert.equal((await who(onHost(node), pageOf(pod))).seen, overlayAddressOf(ranges, node));
      }
    }
  });

  await context.test(
    'a pod reaches its own node with its own address, and other nodes with its node’s address',
    async () => {
      for (const { host } of nodes) await listen(context, host, 9090);
      for (const pod of pods) {
        for (const node of nodes) {
          const { seen } = await who(inPod(pod), `${node.host.address}:9090`);
          assert.equal(seen, pod.node === node ? pod.ip : pod.node.host.address);
        }
      }
    },
  );

  await context.test('a pod reaches outside machines with its node’s address', async () => {
    const port = 20_000 + (process.pid % 10_000);
    await listen(context, undefined, port);
    for (const pod of pods) {
      assert.equal((await who(inPod(pod), `${hosts.outside}:${port}`)).seen, pod.node.host.address);
    }
  });

  await context.test('a Service reaches pods on every node from every pod and every node', async () => {
    await kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(service) });
    for (const from of pods) {
      const seen = await everyone(inPod(from), '10.96.0.80:80', pods);
      // A pod that reaches itself must not see its own address, or it would answer to itself.
      const expected = pods.map(({ name }) => [name, name === from.name ? from.node.host.address : from.ip]);
      assert.deepEqual(seen, Object.fromEntries(expected));
    }
    for (const node of nodes) {
      const seen = await everyone(onHost(node), '10.96.0.80:80', pods);
      for (const pod of pods.filter((each) => each.node !== node)) {
        assert.equal(seen[pod.name], overlayAddressOf(ranges, node));
      }
    }
  });

  await context.test('a node port of any node reaches pods on every node from outside', async () => {
    for (const node of nodes) {
      const seen = await everyone(outside, `${node.host.address}:${nodePort}`, pods);
      for (const pod of pods) {
        if (pod.node === node) assert.notEqual(seen[pod.name], hosts.outside);
        else assert.equal(seen[pod.name], overlayAddressOf(ranges, node));
      }
    }
  });

  await context.test(
    'with externalTrafficPolicy Local each node leads to its own pods, which receive the client’s address',
    async () => {
      const patch = { spec: { externalTrafficPolicy: 'Local' } };
      await kubectl('patch', 'service', 'who', '-p', JSON.stringify(patch));
      for (const pod of pods) {
        await waitFor('the caller seen', async () => {
          const answer = await who(outside, `${pod.node.host.address}:${nodePort}`);
          return answer.name === pod.name && answer.seen === hosts.outside;
        });
      }
    },
  );

  await context.test('a large packet within the MTU and a large transfer arrive completely', async () => {
    const ping = (bytes: number) =>
      inNetworkOf(first, 'ping', '-M', 'do', '-c', '1', '-W', '30', '-s', String(bytes - 28), second.ip);
    await ping(1450);
    await assert.rejects(ping(1451));
    for (const pod of pods)
      assert.match(await inNetworkOf(pod, 'ip', 'link', 'show', 'dev', 'eth0'), /mtu 1450 /);
    const copy = `timeout 50 wget -q -O - http://${pageOf(second)}/big | wc -c`;
    const size = await node0.host.docker('exec', first.container, 'sh', '-c', copy);
    assert.equal(Number(size), bigBytes);
  });

  await context.test(
    'a removed machine has no route, and other machines have no route to it, until it joins again',
    async () => {
      // One agent is frozen meanwhile: it must catch up when it continues.
      node1.role.freeze();
      await kubectl('delete', 'node', node2.name);
      const gone = async ({ host }: ClusterNode) => (await waysOf(host)).length === 1;
      await waitFor('the removal of the route on node 0', () => gone(node0), { intervalMs: 20 });
      assert.equal(await gone(node1), false);
      node1.role.thaw();
      await waitFor('the removal of the route on node 1', () => gone(node1));
      // Existing connections are not affected.
      assert.equal((await who(inPod(first), pageOf(second))).seen, first.ip);
      assert.equal(await holds(who(inPod(first), pageOf(third))), false);
      const left = async () => {
        const texts = await Promise.all([
          node2.host
            .run('ip', '-json', 'link')
            .then((text) => text.match(/"ifname":"m(ini)?k8s[^"]*"/g)?.join() ?? ''),
          node2.host.run('ip', 'route', 'show', 'proto', '107'),
          node2.host.run('nft', 'list', 'tables').then((text) => text.match(/minik8s\S*/g)?.join() ?? ''),
          node2.host.run('iptables', '-S').then((text) => text.match(/MINIK8S\S*/g)?.join() ?? ''),
        ]);
        return texts.join('');
      };
      await waitFor('the removal of all its routes', async () => {
        const text = await left();
        if (text !== '') throw new Error(text);
        return true;
      });
      await node2.role.end('SIGTERM');
      await node2.role.start();
      await cluster.untilReady(node2);
      await waitFor('the restored routes', async () => (await waysOf(node0.host)).length === 2, {
        intervalMs: 20,
      });
      const again = await startPod(cluster, node2, 'who-again');
      assert.equal((await who(inPod(first), pageOf(again))).seen, first.ip);
    },
  );

  await context.test('a machine that was cut off is reachable as soon as it is connected again', async () => {
    await hosts.cut(node1.host);
    assert.equal(await holds(who(inPod(first), pageOf(second))), false);
    await hosts.heal(node1.host);
    await waitFor('an answer', async () => (await who(inPod(first), pageOf(second))).seen === first.ip);
  });

  await context.test('pods reach one another while the agent is killed and starts again', async () => {
    const linkOf = async () => {
      const [{ ifindex }] = JSON.parse(
        await node1.host.run('ip', '-json', 'link', 'show', 'dev', 'minik8s.vxlan'),
      );
      return ifindex;
    };
    const before = await linkOf();
    await node1.role.end('SIGKILL');
    assert.equal((await who(inPod(first), pageOf(second))).seen, first.ip);
    await node1.role.start(/^minik8s is ready/m);
    assert.equal((await who(inPod(first), pageOf(second))).seen, first.ip);
    assert.equal(await linkOf(), before);
    const warnings = node1.role.log
      .split('\n')
      .filter((line) => /overlay/.test(line) && /warn|error/i.test(line));
    assert.deepEqual(warnings, []);
  });
});

test('pods of two machines reach each other without an overlay', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2, nodeConfig: { overlay: 'host-routes' } });
  const pods = await Promise.all(cluster.nodes.map((node) => startPod(cluster, node, `who-${node.name}`)));
  const [first, second] = pods;
  assert.ok(first && second);
  for (const [from, to] of [
    [first, second],
    [second, first],
  ] as const) {
    assert.deepEqual(await who(inPod(from), `${to.ip}:8080`), { name: to.name, seen: from.ip });
    assert.equal((await who(onHost(from.node), `${to.ip}:8080`)).seen, from.node.host.address);
    assert.match(await inNetworkOf(from, 'ip', 'link', 'show', 'dev', 'eth0'), /mtu 1500 /);
  }
  await cluster.kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(service) });
  for (const from of pods) {
    await everyone(inPod(from), '10.96.0.80:80', pods);
    await everyone(onHost(from.node), '10.96.0.80:80', pods);
    await everyone(outside, `${from.node.host.address}:${nodePort}`, pods);
  }
});
