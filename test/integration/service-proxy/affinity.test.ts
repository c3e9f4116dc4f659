/**
 * Session affinity in a real kernel: a network namespace whose loopback carries clients and endpoints. The
 * timeouts are those of the kernel, so the tests wait for them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { ElementTable } from '../../../src/service-proxy/element-table.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { chainsOf, renderDifference, renderTable, tableOf } from '../../../src/service-proxy/render.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { readStickyClients } from '../../../src/service-proxy/sticky-clients.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';

const table = tableOf('IPv4');

const { name: namespace } = claimNamespace('minik8s-affinity-', 1_000_000);
const exec: Exec = (program, args, options) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], { timeoutMs: 60_000, ...options });
const run = (program: string, args: readonly string[], input = '') => exec(program, args, { input });
const endpoints = ['10.244.0.2', '10.244.0.3', '10.244.0.4'];
const clients = Array.from({ length: 12 }, (_, i) => `10.2.0.${i + 1}`);
const machine = '192.0.2.1';

/** Servers that answer with the address at which they were reached; they end with their input. */
const servers = `
  const net = require('node:net');
  for (const ip of ${JSON.stringify(endpoints)})
    net.createServer((socket) => { socket.on('error', () => {}); socket.end(ip); }).listen(8080, ip);
  process.stdin.resume().on('end', () => process.exit());
  console.log('listening');
`;

/** Prints a line for each client: the answers to its connections, or their error codes. */
const program = (address: string, port: number, count: number) => `
  const net = require('node:net');
  const one = (localAddress) => new Promise((resolve) => {
    let text = '';
    net.connect({ port: ${port}, host: '${address}', localAddress }).on('data', (data) => { text += data; })
      .on('error', (error) => resolve(error.code)).on('end', () => resolve(text));
  });
  (async () => {
    for (const client of ${JSON.stringify(clients)}) {
      const answers = [];
      for (let i = 0; i < ${count}; i++) answers.push(await one(client));
      console.log(answers.join(' '));
    }
  })();
`;

/** Resolves to the endpoint of each client; fails if a client reached two. */
async function endpointsOf(address: string, port: number, count = 6): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, ['-e', program(address, port, count)]);
  return stdout
    .trim()
    .split('\n')
    .map((line, i) => {
      const [reached = '', ...others] = new Set(line.split(' '));
      assert.deepEqual(others, [], `client ${clients[i]} reached ${line}`);
      return reached;
    });
}

const rule = (ips: readonly string[], affinitySeconds: number): ServicePortRules => {
  const targets = ips.map((ip) => ({ ip, port: 8080, local: true }));
  return {
    addresses: ['10.96.0.10'],
    protocol: 'tcp',
    port: 80,
    endpoints: targets,
    affinitySeconds,
    nodePort: { port: 30080, masquerade: true, endpoints: targets },
  };
};

let elements: ElementTable;
let server: ReturnType<typeof spawn>;

/** Writes the whole table, with the clients that the kernel remembers. */
async function writeAll(ips: readonly string[], seconds: number): Promise<void> {
  elements.replace('web', elementsOf([rule(ips, seconds)]));
  const kept = await readStickyClients(exec, table, (error) => assert.fail(String(error)));
  await run('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all(), kept));
  elements.commit();
}

async function change(ips: readonly string[], seconds: number): Promise<void> {
  const known = chainsOf(elements.all());
  elements.replace('web', elementsOf([rule(ips, seconds)]));
  await run('nft', ['-f', '-'], renderDifference(known, elements.difference()));
  elements.commit();
}

before(async () => {
  await run('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...endpoints, ...clients, machine])
    await run('ip', ['address', 'add', `${ip}/32`, 'dev', 'lo']);
  await run('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', machine]);
  const args = ['netns', 'exec', namespace, process.execPath, '-e', servers];
  const started = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  server = started;
  await once(started.stdout, 'data');
});
beforeEach(async () => {
  elements = new ElementTable();
  await run('nft', ['flush', 'ruleset']);
});
after(async () => {
  server.stdin?.end();
  await systemExec('ip', ['netns', 'delete', namespace]);
  letGo({ kind: 'namespace', name: namespace });
});

for (const [what, address, port] of [
  ['the cluster IP', '10.96.0.10', 80],
  ['a node port', machine, 30080],
] as const) {
  test(`each client of ${what} keeps its endpoint while other clients connect and the table is written again`, async () => {
    await writeAll(endpoints, 60);
    const first = await endpointsOf(address, port);
    assert.ok(new Set(first).size > 1, 'the endpoints of twelve clients are not all the same');

    await change(endpoints.slice(0, 2), 60);
    const fewer = await endpointsOf(address, port);
    for (const [i, endpoint] of first.entries()) {
      if (endpoint !== endpoints[2]) assert.equal(fewer[i], endpoint, `client ${clients[i]}`);
      else assert.ok(endpoints.slice(0, 2).includes(fewer[i] ?? ''), String(fewer[i]));
    }

    await change(endpoints, 60);
    assert.deepEqual(await endpointsOf(address, port), fewer);
    await writeAll(endpoints, 60);
    assert.deepEqual(await endpointsOf(address, port), fewer);
  });
}

const remembered = async () =>
  (await readStickyClients(exec, table, (error) => assert.fail(String(error))))['sticky-clients'];

/** Resolves to the milliseconds after which the kernel forgets the first client. */
async function timeLeftMs(): Promise<number> {
  const [one = ''] = (await remembered()).filter((line) => line.startsWith(`${clients[0]} `));
  const [, minutes, seconds, ms] = / expires (?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)? /.exec(one) ?? [];
  return Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1000 + Number(ms ?? 0);
}

test('each connection restarts the timeout of its client', async () => {
  await writeAll(endpoints, 3600);
  const first = await endpointsOf('10.96.0.10', 80, 1);
  await sleep(1000);
  const before = await timeLeftMs();
  assert.ok(before > 0 && before <= 3_599_000, `${before} ms`);
  assert.deepEqual(await endpointsOf('10.96.0.10', 80, 1), first);
  assert.ok((await timeLeftMs()) > before);
});

test('a client that opens no connection is forgotten after the timeout', async () => {
  await writeAll(endpoints, 2);
  await endpointsOf('10.96.0.10', 80, 1);
  for (let i = 0; i < 40 && (await remembered()).length > 0; i++) await sleep(250);
  assert.deepEqual(await remembered(), []);
});

test('a changed timeout applies from the next connection on', async () => {
  await writeAll(endpoints, 3600);
  const first = await endpointsOf('10.96.0.10', 80, 1);
  await change(endpoints, 600);
  assert.ok((await timeLeftMs()) > 3_000_000);
  assert.deepEqual(await endpointsOf('10.96.0.10', 80, 1), first);
  const left = await timeLeftMs();
  assert.ok(left > 0 && left <= 600_000, `${left} ms`);
});
