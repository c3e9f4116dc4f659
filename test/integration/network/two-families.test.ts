/** Pods with addresses of both families on two nodes: the pod network, the overlay and the service rules. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { renderTable } from '../../../src/service-proxy/render.ts';
import type { Host } from '../../e2e/harness/host.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { emptyPod, TestPod } from './overlay-node.ts';

const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);

const clusterCIDR = '10.244.0.0/16,fd00:10:244::/56';
const serviceCIDR = '10.96.0.0/16,fd00:10:96::/112';
const rangesOf = (number: number) => `10.244.${number}.0/24,fd00:10:244:${number}::/64`;
const addressOf = (number: number) => `2001:db8:1::${number}`;

interface Setup {
  readonly host: Host;
  readonly number: number;
  readonly other: Host;
  readonly mode: 'vxlan' | 'host-routes';
  /** Pods to attach, by address. */
  readonly pods: readonly TestPod[];
}

/** Sets up the network of a node with pods, by address, and the overlay to the other node. */
const nodeProgram = ({ host, number, other, mode, pods }: Setup) => `
  import { systemExec as exec } from ${source('os/exec.ts')};
  import { silentLogger as log } from ${source('base/log.ts')};
  import { applyOverlay, readOverlay, readUnderlay } from ${source('network/overlay/kernel.ts')};
  import { macOf, planOverlay } from ${source('network/overlay/plan.ts')};
  import { RoutedPodNetwork } from ${source('network/pod-network.ts')};
  import { defaultNames } from ${source('network/rules.ts')};
  const facts = {
    nodeName: 'node-${number}', nodeIP: '${host.address}', nodeIPv6: '${addressOf(number)}', mode: '${mode}',
    podCIDR: '${rangesOf(number)}', clusterCIDR: '${clusterCIDR}', serviceCIDR: '${serviceCIDR}',
  };
  const network = new RoutedPodNetwork({ exec, log, ...facts, nodeIP: undefined, overlay: facts });
  await network.setUp(facts.podCIDR);
  for (const [ip, pid] of ${JSON.stringify(pods.map(({ ip, pid }) => [ip, pid]))}) await network.attach(ip, pid);
  const [podIP] = ['10.244.${number}.2'];
  await network.setHostPorts([
    { protocol: 'TCP', hostIP: '', hostPort: 9300, podIP, containerPort: 8080 },
    { protocol: 'TCP', hostIP: '${addressOf(number)}', hostPort: 9301, podIP, containerPort: 8080 },
  ]);
  const annotations = {
    'minik8s.io/overlay': '${mode}',
    ...('${mode}' === 'vxlan' && { 'minik8s.io/vxlan-mac': macOf('10.244.${3 - number}.0/24') }),
    'minik8s.io/pod-cidr': '10.244.${3 - number}.0/24',
    'minik8s.io/pod-cidr-ipv6': 'fd00:10:244:${3 - number}::/64',
    'minik8s.io/node-ip': '${other.address}',
    'minik8s.io/node-ipv6': '${addressOf(3 - number)}',
  };
  const nodes = [
    { metadata: { name: facts.nodeName, uid: '1', creationTimestamp: '' } },
    { metadata: { name: 'other', uid: '2', creationTimestamp: '', annotations } },
  ];
  const underlay = await readUnderlay(exec, facts.nodeIP);
  const underlay6 = await readUnderlay(exec, facts.nodeIPv6);
  const { state, problems } = planOverlay({ ...facts, underlay, underlay6 }, nodes, defaultNames);
  if (problems.length > 0) throw new Error(problems.join());
  await applyOverlay(exec, (await readOverlay(exec, defaultNames)).state, state, defaultNames);
  const again = await readOverlay(exec, defaultNames);
  const changed = await applyOverlay(exec, { ...again.state, senders: state.senders }, state, defaultNames);
  console.log(network.addressesOf(podIP).join(), changed ? 'changed again' : 'as planned');
`;

/** Answers every connection with the address that it sees of its client. */
const server = `
  require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.end(socket.remoteAddress.replace('::ffff:', ''));
  }).listen(8080, '::');
`;

type Place = Pick<TestPod, 'exec'>;
const onHost = (host: Host): Place => ({
  exec: async (file, args) => ({ stdout: await host.run(file, ...args), stderr: '' }),
});
/** Resolves to the server's answer, or to what nc(1) reports; busybox is small enough for many calls. */
const call = (from: Place, address: string, port: number) =>
  from.exec('busybox', ['nc', '-w', '5', address, String(port)]).then(
    ({ stdout }) => stdout.trim(),
    (error: Error) => error.message,
  );

/** Listens for datagrams in a pod; returns a function that reads their different sources, sorted. */
async function listen(host: Host, pod: TestPod) {
  const file = join(host.directory, 'heard');
  await writeFile(file, '');
  const program = `
    const note = (line) => require('node:fs').appendFileSync('${file}', line + '\\n');
    const socket = require('node:dgram').createSocket('udp6');
    socket.on('message', (_, { address }) => note(address)).bind(9000, '::', () => note('ready'));
  `;
  const child = pod.spawn(host, process.execPath, '-e', program);
  host.after(async () => void child.kill());
  const lines = async () => new Set((await readFile(file, 'utf8')).split('\n').filter(Boolean));
  await waitFor('a listener', async () => (await lines()).has('ready'));
  return async () => [...(await lines())].filter((line) => line !== 'ready').sort();
}

/** Sends several datagrams from an address, since one may be lost for another reason. */
const send = (from: Place, address: string, to: string) =>
  from.exec(process.execPath, [
    '-e',
    `
      const socket = require('node:dgram').createSocket('udp6');
      socket.bind(0, '${address}', async () => {
        for (let n = 0; n < 3; n++) await new Promise((done) => socket.send('x', 9000, '${to}', done));
        socket.close();
      });
    `,
  ]);

async function podAt(host: Host, ip: string): Promise<TestPod> {
  const pod = new TestPod(ip, await emptyPod(host));
  // Docker switches IPv6 off in a container that has no address of it.
  await pod.exec('sh', [
    '-c',
    'for c in all default; do echo 1 > /proc/sys/net/ipv6/conf/$c/disable_ipv6; done',
  ]);
  return pod;
}

const serve = (pod: TestPod, host: Host) => {
  const child = pod.spawn(host, process.execPath, '-e', server);
  host.after(async () => void child.kill());
};

describe('pods with addresses of both families', () => {
  test('reach one another, Services and other machines over IPv6, and only from their own addresses', async (context) => {
    const hosts = await Hosts.start(context, 3, { docker: false });
    const [first, second, stranger] = [hosts.at(0), hosts.at(1), hosts.at(2)];
    for (const [index, host] of [first, second, stranger].entries())
      await host.run('ip', 'address', 'add', `${addressOf(index + 1)}/64`, 'dev', 'eth0', 'nodad');
    // New links have no IPv6 by the default of this machine.
    await first.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
    const [a, b, c] = [
      await podAt(first, '10.244.1.2'),
      await podAt(first, '10.244.1.3'),
      await podAt(second, '10.244.2.2'),
    ];
    const six = { a: 'fd00:10:244:1::2', b: 'fd00:10:244:1::3', c: 'fd00:10:244:2::2' };
    const setUp = async (setup: Setup) =>
      (await setup.host.run(process.execPath, '--input-type=module', '-e', nodeProgram(setup))).trim();
    const nodes = [
      { host: first, number: 1, other: second, pods: [a, b] },
      { host: second, number: 2, other: first, pods: [c] },
    ];
    for (const node of nodes)
      assert.equal(
        await setUp({ ...node, mode: 'vxlan' }),
        `10.244.${node.number}.2,fd00:10:244:${node.number}::2 as planned`,
      );
    for (const [pod, host] of [
      [a, first],
      [b, first],
      [c, second],
    ] as const)
      serve(pod, host);
    await waitFor('a server in each pod', async () => {
      const answers = await Promise.all([call(b, six.a, 8080), call(a, six.b, 8080), call(a, six.c, 8080)]);
      return answers.every((answer) => answer.startsWith('fd00:'));
    });

    assert.equal(await call(a, six.b, 8080), six.a, 'a pod of the same node');
    assert.equal(await call(a, six.c, 8080), six.a, 'a pod of the other node');
    assert.equal(await call(c, six.a, 8080), six.c, 'the way back');
    assert.equal(await call(a, c.ip, 8080), a.ip, 'the other family beside it');
    assert.equal(await call(onHost(first), six.a, 8080), addressOf(1), 'from the node itself');
    assert.equal(
      await call(onHost(first), six.c, 8080),
      'fd00:10:244:1::',
      'from a node to a pod of another one',
    );
    assert.match(await call(onHost(stranger), addressOf(1), 9300), /^2001:db8:1::3$/, 'a host port');
    assert.match(
      await call(onHost(stranger), addressOf(1), 9301),
      /^2001:db8:1::3$/,
      'a host port of an IPv6 address',
    );
    assert.doesNotMatch(
      await call(onHost(stranger), first.address, 9301),
      /^\d+\.\d+\.\d+\.\d+$/,
      'a host port of an IPv6 address, called by IPv4',
    );

    // A pod's packets leave the cluster with the address of its node.
    const outside = stranger.spawn(process.execPath, ['-e', server]);
    stranger.after(async () => void outside.kill());
    await waitFor(
      'the server outside',
      async () => (await call(onHost(second), addressOf(3), 8080)) === addressOf(2),
    );
    assert.equal(await call(a, addressOf(3), 8080), addressOf(1));

    // A foreign source address is dropped: one of no pod and one outside the cluster, sent by a pod, and one
    // of a pod, sent by another machine.
    const heard = await listen(first, b);
    for (const foreign of [`${six.a}0`, '2001:db8:1::77']) {
      await a.exec('ip', ['address', 'add', `${foreign}/128`, 'dev', 'eth0', 'nodad']);
      await send(a, foreign, six.b);
      await a.exec('ip', ['address', 'delete', `${foreign}/128`, 'dev', 'eth0']);
    }
    await stranger.run('ip', 'address', 'add', `${six.c}0/128`, 'dev', 'eth0', 'nodad');
    await stranger.run('ip', 'route', 'add', 'fd00:10:244:1::/64', 'via', addressOf(1));
    await send(onHost(stranger), `${six.c}0`, six.b);
    await send(onHost(stranger), addressOf(3), six.b);
    await send(a, six.a, six.b);
    await waitFor('the honest datagrams', async () => (await heard()).length >= 2);
    assert.deepEqual(await heard(), [addressOf(3), six.a].sort());

    const endpoints = [six.a, six.c].map((ip, index) => ({ ip, port: 8080, local: index === 0 }));
    const nodePort = { port: 30080, endpoints, masquerade: true };
    const rule = { addresses: ['fd00:10:96::a'], protocol: 'tcp', port: 80, endpoints, nodePort } as const;
    const rules = renderTable('fd00:10:96::/112', elementsOf([rule], 'IPv6'), undefined, 'IPv6');
    const file = `${first.directory}/services.nft`;
    await first.run('sh', '-c', `cat > ${file} <<'END'\n${rules}END\nnft -f ${file}`);
    const asked = async (from: Place, address: string, port: number) => {
      const answers: string[] = [];
      for (let count = 0; count < 12; count++) answers.push(await call(from, address, port));
      return new Set(answers);
    };
    const viaOverlay = 'fd00:10:244:1::';
    assert.deepEqual(await asked(b, 'fd00:10:96::a', 80), new Set([six.b]), 'a pod, at the cluster IP');
    const own = new Set([addressOf(1), viaOverlay]);
    assert.deepEqual(await asked(onHost(first), 'fd00:10:96::a', 80), own, 'the node, at the cluster IP');
    for (const source of await asked(onHost(stranger), addressOf(1), 30080))
      assert.ok(own.has(source), `a node port, with the source ${source}`);
    assert.match(await call(b, 'fd00:10:96::b', 80), /refused/, 'an address of no Service');
    assert.match(await call(b, 'fd00:10:244:7::1', 80), /unreachable|No route|denied/, 'a pod of no node');

    // Without encapsulation, through the IPv6 addresses of the nodes.
    for (const node of nodes)
      assert.match(await setUp({ ...node, mode: 'host-routes', pods: [] }), /as planned$/);
    assert.match(await first.run('ip', '-6', 'route', 'show', 'proto', '107'), /via 2001:db8:1::2 dev eth0/);
    assert.equal(await call(a, six.c, 8080), six.a, 'a pod of the other node, with host routes');
    assert.equal(await call(c, six.a, 8080), six.c, 'the way back, with host routes');
  });
});
