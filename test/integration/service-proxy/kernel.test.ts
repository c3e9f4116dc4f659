/**
 * The rendered rules in a real kernel: a network namespace whose loopback carries clients and endpoints, and
 * a second namespace as another machine.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import { ElementTable } from '../../../src/service-proxy/element-table.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { chainsOf, renderDifference, renderTable } from '../../../src/service-proxy/render.ts';
import { ConnectionReader } from '../../../src/service-proxy/service-connections.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const { name: namespace } = claimNamespace('minik8s-proxy-', 1_000_000);
const inside = (program: string, args: readonly string[], input?: string) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], { input, timeoutMs: 60_000 });
const { name: elsewhere } = claimNamespace('minik8s-proxy-', 1_000_000);
const endpoints = ['10.244.0.2', '10.244.0.3', '10.244.0.4'];

const machine = '192.0.2.1';
const otherMachine = '198.51.100.2';

/** Servers that answer with the address at which they were reached. */
const serverProgram = (ips: readonly string[], port: number) => `
  const net = require('node:net');
  for (const ip of ${JSON.stringify(ips)}) {
    net.createServer((socket) => { socket.on('error', () => {}); socket.end(ip); }).listen(${port}, ip);
  }
  process.stdin.resume().on('end', () => process.exit());
  console.log('listening');
`;

/** Connects \`count\` times and prints the answers or the error codes. */
const clientProgram = (address: string, port: number, count: number) => `
  const net = require('node:net');
  const one = () => new Promise((resolve) => {
    let text = '';
    net.connect(${port}, '${address}').on('data', (data) => { text += data; })
      .on('error', (error) => resolve(error.code)).on('end', () => resolve(text));
  });
  (async () => { for (let i = 0; i < ${count}; i++) console.log(await one()); })();
`;

async function call(address: string, port: number, count = 24): Promise<Set<string>> {
  const { stdout } = await inside(process.execPath, ['-e', clientProgram(address, port, count)]);
  return new Set(stdout.trim().split('\n'));
}

const rule = (
  address: string,
  ips: readonly string[],
  extra: Partial<ServicePortRules> = {},
): ServicePortRules => ({
  addresses: [address],
  protocol: 'tcp',
  port: 80,
  endpoints: ips.map((ip) => ({ ip, port: 8080, local: true })),
  nodePort: undefined,
  ...extra,
});

const servers: ReturnType<typeof spawn>[] = [];

/** Starts servers and resolves when they listen; they end with their input. */
async function serve(where: string, ips: readonly string[], port: number): Promise<void> {
  const args = ['netns', 'exec', where, process.execPath, '-e', serverProgram(ips, port)];
  const server = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  servers.push(server);
  await once(server.stdout, 'data');
}

before(async () => {
  await inside('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...endpoints, machine]) await inside('ip', ['address', 'add', `${ip}/32`, 'dev', 'lo']);
  await inside('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', machine]);
  await inside('ip', ['link', 'add', 'way', 'type', 'veth', 'peer', 'name', 'way', 'netns', elsewhere]);
  for (const [where, address] of [
    [namespace, '198.51.100.1/24'],
    [elsewhere, `${otherMachine}/24`],
  ] as const) {
    await systemExec('ip', ['-netns', where, 'address', 'add', address, 'dev', 'way']);
    await systemExec('ip', ['-netns', where, 'link', 'set', 'way', 'up']);
  }
  await serve(namespace, endpoints, 8080);
  await serve(elsewhere, [otherMachine], 30080);
});

after(async () => {
  for (const server of servers) server.stdin?.end();
  await systemExec('ip', ['netns', 'delete', namespace]);
  letGo({ kind: 'namespace', name: namespace });
  await systemExec('ip', ['netns', 'delete', elsewhere]);
  letGo({ kind: 'namespace', name: elsewhere });
});

test('traffic follows the rules before and after a change of endpoints and node ports', async () => {
  const elements = new ElementTable();
  const nodePort = { port: 30080, masquerade: true, endpoints: rule('', endpoints).endpoints };
  elements.replace('web', elementsOf([rule('10.96.0.10', endpoints, { nodePort })]));
  elements.replace('sticky', elementsOf([rule('10.96.0.11', endpoints, { affinitySeconds: 10_800 })]));
  elements.replace('empty', elementsOf([rule('10.96.0.12', [])]));
  await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  const chains = new Set(chainsOf(elements.all()));
  elements.commit();

  assert.deepEqual(await call('10.96.0.10', 80), new Set(endpoints), 'every endpoint gets its share');
  assert.deepEqual(await call(machine, 30080), new Set(endpoints), 'a node port reaches them too');
  assert.equal((await call('10.96.0.11', 80)).size, 1, 'a sticky client keeps its endpoint');
  assert.deepEqual(
    await call('10.96.0.12', 80, 1),
    new Set(['ECONNREFUSED']),
    'a Service without endpoints is refused at once',
  );
  assert.deepEqual(
    await call('10.96.0.10', 81, 1),
    new Set(['ECONNREFUSED']),
    'so is a port that is not served',
  );

  elements.replace('web', elementsOf([rule('10.96.0.10', endpoints.slice(0, 2))]));
  elements.replace('empty', elementsOf([rule('10.96.0.12', endpoints.slice(2))]));
  await inside('nft', ['-f', '-'], renderDifference(chains, elements.difference()));
  elements.commit();
  assert.deepEqual(await call('10.96.0.10', 80), new Set(endpoints.slice(0, 2)));
  assert.deepEqual(await call('10.96.0.12', 80), new Set(endpoints.slice(2)));
  assert.deepEqual(await call(machine, 30080, 1), new Set(['ECONNREFUSED']), 'the node port is closed again');
});

test('connections are counted for each endpoint, by address, by node port and with session affinity', async () => {
  const elements = new ElementTable();
  const nodePort = { port: 30080, masquerade: true, endpoints: rule('', endpoints).endpoints };
  elements.replace('a/web', elementsOf([rule('10.96.0.10', endpoints, { nodePort })]));
  elements.replace('a/sticky', elementsOf([rule('10.96.0.11', endpoints, { affinitySeconds: 10_800 })]));
  elements.replace('a/idle', elementsOf([rule('10.96.0.13', endpoints)]));
  await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  const clock = new FakeClock();
  const reader = new ConnectionReader({
    ...{ clock, log: new RecordingLogger(), tables: ['ip minik8s-proxy'] },
    exec: (program, args) => inside(program, args),
    serviceOf: (map, key) => elements.ownerOf(map === 'endpoints' ? 'services' : 'node-ports', key),
  });
  assert.deepEqual((await reader.read()).endpoints, [], 'a rate needs two readings');
  await call('10.96.0.10', 80, 8);
  await call(machine, 30080, 4);
  const [chosen = ''] = await call('10.96.0.11', 80, 6);
  await clock.advance(10_000);
  const { endpoints: found, windowMs } = await reader.read();
  const sums = Map.groupBy(found, ({ namespace: of, service }) => `${of}/${service}`);
  const perSecond = (key: string) => (sums.get(key) ?? []).reduce((sum, one) => sum + one.perSecond, 0);
  assert.equal(windowMs, 10_000);
  assert.deepEqual([...sums.keys()].sort(), ['a/sticky', 'a/web']);
  assert.ok(Math.abs(perSecond('a/web') - 1.2) < 1e-9, String(perSecond('a/web')));
  assert.deepEqual(sums.get('a/sticky'), [
    { namespace: 'a', service: 'sticky', address: chosen, port: 8080, perSecond: 0.6 },
  ]);
});

test('the table can be written again, and replaces the former one', async () => {
  const elements = new ElementTable();
  elements.replace('web', elementsOf([rule('10.96.0.20', endpoints.slice(0, 1))]));
  for (let i = 0; i < 2; i++) await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  assert.deepEqual(await call('10.96.0.20', 80, 3), new Set(endpoints.slice(0, 1)));
  assert.deepEqual(await call('10.96.0.10', 80, 1), new Set(['ECONNREFUSED']));
});

test('node port rules apply only to packets for this machine; packets for other machines pass', async () => {
  const elements = new ElementTable();
  const nodePort = { port: 30080, masquerade: true, endpoints: rule('', endpoints).endpoints };
  elements.replace('web', elementsOf([rule('10.96.0.10', endpoints, { nodePort })]));
  await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  assert.deepEqual(await call(otherMachine, 30080, 6), new Set([otherMachine]));
  assert.deepEqual(await call(machine, 30080), new Set(endpoints));
});

test('the mark that carries the slot is removed before the packet leaves the rules', async () => {
  const elements = new ElementTable();
  const { endpoints: targets } = rule('', endpoints);
  const nodePort = { port: 30080, masquerade: true, endpoints: targets };
  const local = { port: 30081, masquerade: false, endpoints: targets };
  elements.replace('web', elementsOf([rule('10.96.0.10', endpoints, { nodePort })]));
  elements.replace('sticky', elementsOf([rule('10.96.0.11', endpoints, { affinitySeconds: 10_800 })]));
  elements.replace('local', elementsOf([rule('10.96.0.12', endpoints, { nodePort: local })]));
  await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  // Rules that run after the proxy's: the pod network's, Docker's, and those that encapsulate packets for
  // other nodes.
  const watcher = `table ip watcher {
    counter new { }
    counter marked { }
    chain after {
      type filter hook postrouting priority srcnat + 5;
      ct state new tcp dport 8080 counter name new
      meta mark != 0 counter name marked
    }
  }`;
  await inside('nft', ['-f', '-'], watcher);
  const packets = async (name: string) =>
    Number(
      /packets (\d+)/.exec((await inside('nft', ['list', 'counter', 'ip', 'watcher', name])).stdout)?.[1],
    );
  for (const [address, port] of [
    ['10.96.0.10', 80],
    ['10.96.0.11', 80],
    [machine, 30080],
    [machine, 30081],
  ] as const) {
    const before = await packets('new');
    for (const answer of await call(address, port, 6)) assert.ok(endpoints.includes(answer), answer);
    assert.equal((await packets('new')) - before, 6, `new connections to ${address}:${port}`);
    assert.equal(await packets('marked'), 0, `${address}:${port}`);
  }
  await inside('nft', ['delete', 'table', 'ip', 'watcher']);
});
