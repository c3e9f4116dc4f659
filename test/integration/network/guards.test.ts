/**
 * Packets that the pod network drops, in the kernels of a node and of a machine beside it that is not a node.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HostPort } from '../../../src/api/core/v1/pod/forwarded-port.ts';
import type { Exec } from '../../../src/os/exec.ts';
import { end, type Host } from '../../e2e/harness/host.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { emptyPod, TestPod } from './overlay-node.ts';

const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);

/** The setup that the agent of a single node does for its pods, and for addresses that no pod has. */
const agentProgram = (
  nodeIP: string,
  pods: ReadonlyMap<string, number>,
  ports: readonly HostPort[],
  closed: readonly string[],
) => `
  import { systemExec as exec } from ${source('os/exec.ts')};
  import { silentLogger as log } from ${source('base/log.ts')};
  import { applyOverlay } from ${source('network/overlay/kernel.ts')};
  import { noOverlay, planOverlay } from ${source('network/overlay/plan.ts')};
  import { RoutedPodNetwork } from ${source('network/pod-network.ts')};
  import { defaultNames } from ${source('network/rules.ts')};
  const facts = { nodeName: 'node', nodeIP: '${nodeIP}', podCIDR: '10.244.3.0/24', clusterCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/16' };
  const network = new RoutedPodNetwork({ exec, log, ...facts });
  await network.setUp(facts.podCIDR);
  for (const [ip, pid] of ${JSON.stringify([...pods])}) await network.attach(ip, pid);
  for (const ip of ${JSON.stringify(closed)}) await network.close(ip);
  await network.setHostPorts(${JSON.stringify(ports)});
  const { state } = planOverlay(facts, [{ metadata: { name: 'node' } }], defaultNames);
  await applyOverlay(exec, noOverlay, state, defaultNames);
`;

/** Answers each datagram, and records it as \`destination address, source address, text\`. */
const listenProgram = (addresses: readonly string[], file: string) => `
  const { appendFileSync } = require('node:fs');
  for (const address of ${JSON.stringify(addresses)}) {
    const socket = require('node:dgram').createSocket('udp4');
    const note = (line) => appendFileSync('${file}', line + '\\n');
    socket.on('message', (text, from) => {
      note(address + ' ' + from.address + ' ' + text);
      socket.send('heard', from.port, from.address);
    });
    socket.bind(9000, address, () => note('ready'));
  }
`;

/** Sends several datagrams, since any one of them may be lost for another reason. */
const sendProgram = (from: string, to: string, text: string) => `
  const socket = require('node:dgram').createSocket('udp4');
  socket.bind(0, '${from}', async () => {
    for (let n = 0; n < 3; n++) await new Promise((done) => socket.send('${text}', 9000, '${to}', done));
    socket.close();
  });
`;

/** Sends requests until one is answered; prints the answer's source address and text. */
const askProgram = (to: string, port: number) => `
  const socket = require('node:dgram').createSocket('udp4');
  const again = setInterval(() => socket.send('asked', ${port}, '${to}'), 100);
  socket.on('message', (text, from) => {
    console.log(from.address + ' ' + text);
    clearInterval(again);
    socket.close();
  });
`;

/** Sends the first segment of a connection; ends when it is answered or was retransmitted. */
const connectProgram = (to: string, port: number) => `
  const socket = require('node:net').connect(${port}, '${to}');
  socket.on('error', () => socket.destroy());
  socket.setTimeout(1500, () => socket.destroy());
`;

type Place = Pick<TestPod, 'exec' | 'spawn'>;

const onHost = (host: Host): Place => ({
  exec: (file, args) => host.run(file, ...args).then((stdout) => ({ stdout, stderr: '' })),
  spawn: (_host, program, ...args) => host.spawn(program, args),
});

/** Listens at the addresses of a place; returns each distinct line received so far. */
async function listen(host: Host, place: Place, addresses: readonly string[], name: string) {
  const file = join(host.directory, name);
  await writeFile(file, '');
  const child = place.spawn(host, process.execPath, '-e', listenProgram(addresses, file));
  host.after(() => end(child, 'SIGTERM'));
  const lines = async () => (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  await waitFor(`a listener (${name})`, async () => (await lines()).length === addresses.length);
  return {
    /**
     * Returns all lines once `last` is there; datagrams that were sent before it have then had time to
     * arrive.
     */
    async until(last: string): Promise<string[]> {
      await waitFor(`"${last}" (${name})`, async () => (await lines()).includes(last));
      return [...new Set(await lines())].filter((line) => line !== 'ready');
    },
  };
}

const send = (exec: Exec, from: string, to: string, text: string) =>
  exec(process.execPath, ['-e', sendProgram(from, to, text)]);

/** Disables the kernel's reverse path filter, which would drop some packets that the rules have to drop. */
async function withoutReversePathFilter(host: Host): Promise<void> {
  const names = (await host.run('ls', '/proc/sys/net/ipv4/conf')).split('\n');
  await host.run('sysctl', '-qw', ...names.map((name) => `net.ipv4.conf.${name}.rp_filter=0`));
}

test('the pod network of a node', async (context) => {
  const hosts = await Hosts.start(context, 2, { docker: false });
  const [node, stranger] = [hosts.at(0), hosts.at(1)];
  const first = new TestPod('10.244.3.2', await emptyPod(node));
  const second = new TestPod('10.244.3.3', await emptyPod(node));
  const hostPort = {
    protocol: 'UDP',
    hostIP: '',
    hostPort: 9300,
    podIP: first.ip,
    containerPort: 9000,
  } as const;
  const third = new TestPod('10.244.3.4', await emptyPod(node));
  const pods = new Map([first, second, third].map((pod) => [pod.ip, pod.pid]));
  const program = agentProgram(node.address, pods, [hostPort], [third.ip]);
  await node.run(process.execPath, '--input-type=module', '-e', program);
  await withoutReversePathFilter(node);
  await stranger.run('ip', 'route', 'add', '10.244.3.0/24', 'via', node.address);
  const outside = onHost(stranger);
  const atFirst = await listen(node, first, [first.ip], 'first-pod');
  const atStranger = await listen(stranger, outside, [stranger.address], 'stranger');
  const atNode = await listen(node, onHost(node), [node.address, '127.0.0.1'], 'node');

  await context.test('accepts no packets of another machine with the address of a pod', async () => {
    // Addresses of a pod here, of a pod of another node, and of no pod.
    const addresses = [second.ip, '10.244.9.9', '10.244.3.99'];
    for (const address of addresses) {
      await stranger.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo');
      await send(outside.exec, address, first.ip, 'pretended');
      await send(outside.exec, address, node.address, 'pretended');
    }
    await send(outside.exec, stranger.address, first.ip, 'honest');
    await send(outside.exec, stranger.address, node.address, 'honest');
    const honest = (to: string) => `${to} ${stranger.address} honest`;
    assert.deepEqual(await atFirst.until(honest(first.ip)), [honest(first.ip)]);
    assert.deepEqual(await atNode.until(honest(node.address)), [honest(node.address)]);
  });

  await context.test('accepts no packets of a pod with an address that is not its own', async () => {
    for (const address of [second.ip, '10.244.9.9', stranger.address, '192.0.2.77']) {
      await first.exec('ip', ['address', 'add', `${address}/32`, 'dev', 'eth0']);
      await send(first.exec, address, node.address, 'as another');
      if (address !== stranger.address) await send(first.exec, address, stranger.address, 'as another');
      await first.exec('ip', ['address', 'delete', `${address}/32`, 'dev', 'eth0']);
    }
    await send(first.exec, first.ip, node.address, 'as itself');
    await send(first.exec, first.ip, stranger.address, 'as itself');
    const asItself = `${node.address} ${first.ip} as itself`;
    assert.deepEqual(
      (await atNode.until(asItself)).filter((line) => line.endsWith('another')),
      [],
    );
    // Packets that leave the cluster have the node's address.
    const beyond = `${stranger.address} ${node.address} as itself`;
    assert.deepEqual(await atStranger.until(beyond), [beyond]);
  });

  await context.test(
    'lets only the machine itself reach a closed pod, and not through a Service',
    async () => {
      const atThird = await listen(node, third, [third.ip], 'closed-pod');
      const service = '192.0.2.80';
      const dnat = `ip daddr ${service} dnat to ${third.ip}`;
      await node.run('nft', 'add', 'table', 'ip', 'service');
      for (const [hook, priority] of Object.entries({ prerouting: 'dstnat', output: '-100' })) {
        const chain = `{ type nat hook ${hook} priority ${priority}; }`;
        await node.run('nft', `add chain ip service ${hook} ${chain}`);
        await node.run('nft', `add rule ip service ${hook} ${dnat}`);
      }
      await stranger.run('ip', 'route', 'add', `${service}/32`, 'via', node.address);
      for (const to of [third.ip, service]) {
        await send(second.exec, second.ip, to, 'of a pod');
        await send(outside.exec, stranger.address, to, 'of another machine');
      }
      await send(onHost(node).exec, node.address, service, 'of the machine to the Service');
      // The closed pod sends requests itself and receives the answers.
      assert.equal(
        (await third.exec(process.execPath, ['-e', askProgram(first.ip, 9000)])).stdout.trim(),
        `${first.ip} heard`,
      );
      await send(onHost(node).exec, node.address, third.ip, 'of the machine');
      const own = `${third.ip} ${node.address} of the machine`;
      assert.deepEqual(await atThird.until(own), [own]);
    },
  );

  await context.test(
    'drops packets to a closed pod that the kernel does not track as a connection',
    async () => {
      const count = async () => (await third.exec('nft', ['list', 'counter', 'ip', 'seen', 'came'])).stdout;
      const load = ({ exec }: Pick<Place, 'exec'>, table: string, chain: string, more = '') =>
        exec('nft', [`table ip ${table} {\n${more}chain c {\n${chain}\n}\n}\n`]);
      const counted = 'type filter hook prerouting priority raw; meta l4proto tcp counter name came';
      await load(third, 'seen', counted, 'counter came { }\n');
      // No kernel tracks a segment with both flags; a pod that may change its own network can send any
      // segment.
      const both = 'type filter hook output priority filter; meta l4proto tcp tcp flags set syn|fin';
      await load(second, 'both', both);
      const reach = connectProgram(third.ip, 9000);
      await second.exec(process.execPath, ['-e', reach]);
      await second.exec('nft', ['delete', 'table', 'ip', 'both']);
      assert.match(await count(), /packets 0 /, 'invalid ones');
      // Packets that the machine itself does not track: an administrator's rule excludes them, as on a busy
      // DNS server.
      const unfollowed = `type filter hook prerouting priority raw; ip daddr ${third.ip} notrack`;
      await load(onHost(node), 'unfollowed', unfollowed);
      await second.exec(process.execPath, ['-e', reach]);
      await node.run('nft', 'delete', 'table', 'ip', 'unfollowed');
      assert.match(await count(), /packets 0 /, 'untracked ones');
      // The counter counts packets that do arrive.
      await onHost(node).exec(process.execPath, ['-e', reach]);
      assert.doesNotMatch(await count(), /packets 0 /);
    },
  );

  await context.test('lets no pod reach the loopback of its machine', async () => {
    // Configuration by which a pod that may change its own network can send to the loopback.
    await second.exec('sysctl', ['-qw', 'net.ipv4.conf.all.route_localnet=1']);
    for (const range of ['127.0.0.1', '127.0.0.0/8'])
      await second.exec('ip', ['route', 'delete', 'local', range, 'dev', 'lo', 'table', 'local']);
    await second.exec('ip', ['route', 'add', '127.0.0.1/32', 'via', '169.254.1.1', 'dev', 'eth0']);
    await send(second.exec, second.ip, '127.0.0.1', 'to loopback');
    await send(second.exec, second.ip, node.address, 'to the node');
    const allowed = `${node.address} ${second.ip} to the node`;
    const heard = (await atNode.until(allowed)).filter((line) => line.includes(' to '));
    assert.deepEqual(heard, [allowed]);
  });

  await context.test(
    'forwards a host port to a pod, also on the loopback of the machine, and returns the answer',
    async () => {
      const ask = async ({ exec }: Pick<Place, 'exec'>, to: string) =>
        (await exec(process.execPath, ['-e', askProgram(to, hostPort.hostPort)])).stdout.trim();
      assert.equal(await ask(onHost(node), '127.0.0.1'), '127.0.0.1 heard');
      assert.equal(await ask(onHost(node), node.address), `${node.address} heard`);
      assert.equal(await ask(outside, node.address), `${node.address} heard`);
      await atFirst.until(`${first.ip} ${stranger.address} asked`);
    },
  );
});
