/**
 * The rules on a node that forwards packets: a pod with an address of its own behind the node, and another
 * machine in front. Servers answer with the address that they see of their client.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { renderTable } from '../../../src/service-proxy/render.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';

const node = `minik8s-through-test-${process.pid}`;
const [pod, machine] = [`${node}-pod`, `${node}-machine`];
const addresses = {
  pod: '10.244.0.2',
  /** Address of the node towards the pod. */
  gateway: '10.244.0.1',
  node: '198.51.100.1',
  machine: '198.51.100.2',
};

const inside = (namespace: string, program: string, args: readonly string[], input?: string) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], { input, timeoutMs: 60_000 });

const server = `
  require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.end(socket.remoteAddress.replace('::ffff:', ''));
  }).listen(8080, '0.0.0.0', () => console.log('listening'));
  process.stdin.resume().on('end', () => process.exit());
`;

/** Programs that print a server's answer or the error code. */
const clients = {
  tcp: (address: string, port: number) => `
    let text = '';
    require('node:net').connect(${port}, '${address}').on('data', (data) => { text += data; })
      .on('error', (error) => console.log(error.code)).on('end', () => console.log(text));
  `,
  udp: (address: string, port: number) => `
    const socket = require('node:dgram').createSocket('udp4');
    // The kernel sends only so many refusals a second, so that one question may get none.
    const asking = setInterval(() => socket.send('?'), 300);
    const end = (text) => { clearInterval(asking); console.log(text); socket.close(); };
    socket.on('message', (data) => end(String(data))).on('error', (error) => end(error.code));
    socket.connect(${port}, '${address}');
  `,
};

async function call(from: string, protocol: 'tcp' | 'udp', address: string, port: number): Promise<string> {
  return (await inside(from, process.execPath, ['-e', clients[protocol](address, port)])).stdout.trim();
}

const rule = (over: Partial<ServicePortRules> = {}): ServicePortRules => ({
  addresses: ['10.96.0.10'],
  protocol: 'tcp',
  port: 80,
  endpoints: [{ ip: addresses.pod, port: 8080, local: true }],
  nodePort: undefined,
  ...over,
});
const apply = (...rules: readonly ServicePortRules[]) =>
  inside(node, 'nft', ['-f', '-'], renderTable('10.96.0.0/16', elementsOf(rules)));

let running: ChildProcess | undefined;

before(async () => {
  for (const namespace of [node, pod, machine]) {
    await systemExec('ip', ['netns', 'add', namespace]);
    await inside(namespace, 'ip', ['link', 'set', 'lo', 'up']);
  }
  for (const [namespace, own, gateway] of [
    [pod, addresses.pod, addresses.gateway],
    [machine, addresses.machine, addresses.node],
  ] as const) {
    const device = namespace === pod ? 'pod' : 'machine';
    await inside(node, 'ip', [
      'link',
      'add',
      device,
      'type',
      'veth',
      'peer',
      'name',
      'way',
      'netns',
      namespace,
    ]);
    await inside(node, 'ip', ['address', 'add', `${gateway}/24`, 'dev', device]);
    await inside(node, 'ip', ['link', 'set', device, 'up']);
    await inside(namespace, 'ip', ['address', 'add', `${own}/24`, 'dev', 'way']);
    await inside(namespace, 'ip', ['link', 'set', 'way', 'up']);
    await inside(namespace, 'ip', ['route', 'add', 'default', 'via', gateway]);
  }
  // A default route, as every node has one.
  await inside(node, 'ip', ['link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'away']);
  await inside(node, 'ip', ['link', 'set', 'out', 'up']);
  await inside(node, 'ip', ['link', 'set', 'away', 'up']);
  await inside(node, 'ip', ['route', 'add', 'default', 'dev', 'out', 'src', addresses.node]);
  await inside(node, 'sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
  const started = spawn('ip', ['netns', 'exec', pod, process.execPath, '-e', server], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running = started;
  await once(started.stdout, 'data');
});

after(async () => {
  running?.stdin?.end();
  for (const namespace of [pod, machine, node]) await systemExec('ip', ['netns', 'delete', namespace]);
});

test('another machine reaches the pod at the cluster IP, and the pod sees the address of that machine', async () => {
  await apply(rule());
  assert.equal(await call(machine, 'tcp', '10.96.0.10', 80), addresses.machine);
});

test('a pod reaches itself through its Service', async () => {
  await apply(rule());
  assert.equal(await call(pod, 'tcp', '10.96.0.10', 80), addresses.gateway);
});

for (const [masquerade, seen] of [
  [true, addresses.gateway],
  [false, addresses.machine],
] as const) {
  test(`the pod sees the client of a node port as ${seen} ${masquerade ? 'with' : 'without'} masquerading`, async () => {
    await apply(rule({ nodePort: { port: 30080, masquerade, endpoints: rule().endpoints } }));
    assert.equal(await call(machine, 'tcp', addresses.node, 30080), seen);
  });
}

test('an address and port without a service is refused at once, for every client', async () => {
  await apply(rule({ endpoints: [] }));
  for (const from of [machine, pod, node]) {
    // The kernel reports the rejection of a local datagram twice: when it is sent, and by an answer.
    const refused = from === node ? /^(ECONNREFUSED|EPERM)$/ : /^ECONNREFUSED$/;
    for (const protocol of ['tcp', 'udp'] as const) {
      for (const address of ['10.96.0.10', '10.96.0.11'])
        assert.match(await call(from, protocol, address, 80), refused, `${protocol} from ${from}`);
    }
  }
});
