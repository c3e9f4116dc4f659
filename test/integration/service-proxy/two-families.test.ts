/** The service rules of both families side by side in a real kernel: a network namespace is the machine. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { AddressFamily } from '../../../src/base/address-families.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { deleteTable } from '../../../src/os/nft-table.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { FamilyRules } from '../../../src/service-proxy/family-rules.ts';
import { tableOf } from '../../../src/service-proxy/render.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const { name: namespace } = claimNamespace('minik8s-proxy-', 1_000_000);
const inside: Exec = (program, args, options = {}) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], { timeoutMs: 60_000, ...options });

const places = {
  IPv4: { machine: '192.0.2.1', service: '10.96.0.10', cidr: '10.96.0.0/16', pods: '10.244.0.' },
  IPv6: { machine: '2001:db8::1', service: 'fd00:10:96::a', cidr: 'fd00:10:96::/112', pods: 'fd00:10:244::' },
} as const;
const families = ['IPv4', 'IPv6'] as const;
const endpointsOf = (family: AddressFamily) => [2, 3, 4].map((host) => `${places[family].pods}${host}`);
const all = families.flatMap(endpointsOf);

/** Servers that answer with the address at which they were reached, over TCP and UDP. */
const server = `
  const [net, dgram] = [require('node:net'), require('node:dgram')];
  for (const ip of ${JSON.stringify(all)}) {
    net.createServer((socket) => { socket.on('error', () => {}); socket.end(ip); }).listen(8080, ip);
    const socket = dgram.createSocket(ip.includes(':') ? 'udp6' : 'udp4');
    socket.on('message', (_, { port, address }) => socket.send(ip, port, address)).bind(8080, ip);
  }
  process.stdin.resume().on('end', () => process.exit());
  console.log('listening');
`;

/** Program that connects \`count\` times from an address and prints the answers or the error codes. */
const client = (address: string, port: number, count: number, localAddress: string) => `
  const net = require('node:net');
  const one = () => new Promise((resolve) => {
    let text = '';
    net.connect({ port: ${port}, host: '${address}', localAddress: '${localAddress}' })
      .on('data', (data) => { text += data; })
      .on('error', (error) => resolve(error.code)).on('end', () => resolve(text));
  });
  (async () => { for (let i = 0; i < ${count}; i++) console.log(await one()); })();
`;

/** Program that sends a datagram from a fixed port until there is an answer, and prints it. */
const sender = (address: string) => `
  const socket = require('node:dgram').createSocket('udp6');
  socket.bind(40000, '${places.IPv6.machine}', () => {
    setInterval(() => socket.send('?', 80, '${address}'), 100);
    socket.on('message', (data) => { console.log(String(data)); process.exit(); });
  });
`;

async function call(family: AddressFamily, address: string, port: number, count = 24) {
  const program = client(address, port, count, places[family].machine);
  const { stdout } = await inside(process.execPath, ['-e', program]);
  return new Set(stdout.trim().split('\n'));
}

function rule(family: AddressFamily, extra: Partial<ServicePortRules> = {}): ServicePortRules {
  const endpoints = endpointsOf(family).map((ip) => ({ ip, port: 8080, local: true }));
  const addresses = [places[family].service];
  return { addresses, protocol: 'tcp', port: 80, endpoints, nodePort: undefined, ...extra };
}

const log = new RecordingLogger();
const rules = Object.fromEntries(
  families.map((family) => [
    family,
    new FamilyRules({ family, serviceCIDR: places[family].cidr, exec: inside, log }),
  ]),
) as Record<AddressFamily, FamilyRules>;

async function apply(family: AddressFamily, owner: string, ...some: readonly ServicePortRules[]) {
  rules[family].elements.replace(owner, elementsOf(some, family));
  await rules[family].apply();
}

let running: ChildProcess | undefined;

before(async () => {
  await inside('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...all, places.IPv4.machine, places.IPv6.machine]) {
    const size = ip.includes(':') ? 128 : 32;
    await inside('ip', ['address', 'add', `${ip}/${size}`, 'dev', 'lo', ...(size === 128 ? ['nodad'] : [])]);
  }
  for (const { cidr, machine } of [places.IPv4, places.IPv6])
    await inside('ip', ['route', 'add', cidr, 'dev', 'lo', 'src', machine]);
  const started = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', server], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running = started;
  await once(started.stdout, 'data');
});

after(async () => {
  running?.stdin?.end();
  await systemExec('ip', ['netns', 'delete', namespace]);
  letGo({ kind: 'namespace', name: namespace });
});

for (const family of families)
  test(`a Service leads to all its pods at its cluster IP and at a node port, over ${family}`, async () => {
    const { machine, service } = places[family];
    const { endpoints } = rule(family);
    const nodePort = { port: 30080, masquerade: true, endpoints };
    await apply(family, 'web', rule(family, { nodePort }));
    assert.deepEqual(await call(family, service, 80), new Set(endpointsOf(family)));
    assert.deepEqual(await call(family, machine, 30080), new Set(endpointsOf(family)));
    assert.deepEqual(await call(family, service, 81, 1), new Set(['ECONNREFUSED']));
    await apply(family, 'web', rule(family, { endpoints: endpoints.slice(0, 1) }));
    assert.deepEqual(await call(family, service, 80, 6), new Set(endpointsOf(family).slice(0, 1)));
    assert.deepEqual(await call(family, machine, 30080, 1), new Set(['ECONNREFUSED']));
  });

test('a client of IPv6 keeps its endpoint over a restart of the agent', async () => {
  const { service, machine, cidr } = places.IPv6;
  const { endpoints } = rule('IPv6');
  const nodePort = { port: 30081, masquerade: true, endpoints };
  const sticky = rule('IPv6', { affinitySeconds: 10_800, nodePort });
  await apply('IPv6', 'web', sticky);
  const [chosen, atPort] = [await call('IPv6', service, 80), await call('IPv6', machine, 30081)];
  assert.deepEqual([chosen.size, atPort.size], [1, 1]);
  const restarted = new FamilyRules({ family: 'IPv6', serviceCIDR: cidr, exec: inside, log });
  restarted.elements.replace('web', elementsOf([sticky], 'IPv6'));
  await restarted.apply();
  rules.IPv6 = restarted;
  assert.deepEqual(await call('IPv6', service, 80), chosen);
  assert.deepEqual(await call('IPv6', machine, 30081), atPort);
  // The rules of the other family stay.
  assert.deepEqual(await call('IPv4', places.IPv4.service, 80, 3), new Set(endpointsOf('IPv4').slice(0, 1)));
});

test('only clients of the accepted ranges reach a limited address of IPv6', async () => {
  const { machine, service } = places.IPv6;
  await apply('IPv6', 'web', rule('IPv6', { clients: ['10.0.0.0/8', 'fd00::/8'] }));
  const dropped = inside(process.execPath, ['-e', client(service, 80, 1, machine)], { timeoutMs: 2000 }).then(
    () => 'answered',
    () => 'dropped',
  );
  assert.equal(await dropped, 'dropped');
  await apply('IPv6', 'web', rule('IPv6', { clients: ['2001:db8::/64', '192.0.2.0/24'] }));
  assert.deepEqual(await call('IPv6', service, 80), new Set(endpointsOf('IPv6')));
});

test('datagrams of an open flow of IPv6 go to another endpoint once theirs is removed', async () => {
  const { endpoints } = rule('IPv6', { protocol: 'udp' });
  const udp = (some: typeof endpoints) => rule('IPv6', { protocol: 'udp', endpoints: some });
  const ask = async () => (await inside(process.execPath, ['-e', sender(places.IPv6.service)])).stdout.trim();
  await apply('IPv6', 'web', udp(endpoints.slice(0, 1)));
  assert.equal(await ask(), endpointsOf('IPv6')[0]);
  await apply('IPv6', 'web', udp(endpoints.slice(1, 2)));
  assert.equal(await ask(), endpointsOf('IPv6')[1]);
});

test('a table is removed repeatedly, and that of the other family stays', async () => {
  for (const _ of ['there', 'gone']) await deleteTable(inside, tableOf('IPv6'));
  const { stdout } = await inside('nft', ['list', 'tables']);
  assert.match(stdout, /table ip minik8s-proxy/);
  assert.doesNotMatch(stdout, /table ip6 minik8s-proxy/);
  assert.deepEqual(log.of('warn'), []);
});
