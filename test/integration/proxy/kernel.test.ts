/** The rendered rules in a real kernel: a network namespace whose loopback carries clients and endpoints. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { systemExec } from '../../../src/base/exec.ts';
import { ElementTable } from '../../../src/proxy/element-table.ts';
import { elementsOf } from '../../../src/proxy/elements.ts';
import { chainsOf, renderDifference, renderTable } from '../../../src/proxy/render.ts';
import type { ServicePortRules } from '../../../src/proxy/service-map.ts';

const namespace = `minik8s-proxy-test-${process.pid}`;
const inside = (program: string, args: readonly string[], input?: string) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], { input, timeoutMs: 20_000 });
const endpoints = ['10.244.0.2', '10.244.0.3', '10.244.0.4'];

/** Servers in the namespace that answer with the address they were reached at. */
const serverProgram = `
  const net = require('node:net');
  for (const ip of ${JSON.stringify(endpoints)}) {
    net.createServer((socket) => { socket.on('error', () => {}); socket.end(ip); }).listen(8080, ip);
  }
  process.stdin.resume().on('end', () => process.exit());
  console.log('listening');
`;

/** Connects \`count\` times and prints the answers, or the error codes. */
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
  affinity: false,
  nodePort: undefined,
  ...extra,
});

let server: ReturnType<typeof spawn>;

before(async () => {
  await systemExec('ip', ['netns', 'add', namespace]);
  await inside('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...endpoints, '192.0.2.1'])
    await inside('ip', ['address', 'add', `${ip}/32`, 'dev', 'lo']);
  await inside('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', '192.0.2.1']);
  server = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', serverProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => server.stdout?.once('data', resolve));
});

after(async () => {
  server?.stdin?.end();
  await systemExec('ip', ['netns', 'delete', namespace]);
});

test('traffic follows the rules through a change of every sort', async () => {
  const elements = new ElementTable();
  const nodePort = { port: 30080, masquerade: true, endpoints: rule('', endpoints).endpoints };
  elements.replace('web', elementsOf([rule('10.96.0.10', endpoints, { nodePort })]));
  elements.replace('sticky', elementsOf([rule('10.96.0.11', endpoints, { affinity: true })]));
  elements.replace('empty', elementsOf([rule('10.96.0.12', [])]));
  await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  const chains = new Set(chainsOf(elements.all()));
  elements.commit();

  assert.deepEqual(await call('10.96.0.10', 80), new Set(endpoints), 'every endpoint gets its share');
  assert.deepEqual(await call('192.0.2.1', 30080), new Set(endpoints), 'a node port reaches them too');
  assert.equal((await call('10.96.0.11', 80)).size, 1, 'a sticky client keeps its endpoint');
  assert.deepEqual(
    await call('10.96.0.12', 80, 1),
    new Set(['ECONNREFUSED']),
    'nobody there is said at once',
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
  assert.deepEqual(
    await call('192.0.2.1', 30080, 1),
    new Set(['ECONNREFUSED']),
    'the node port is closed again',
  );
});

test('the table can be written over itself', async () => {
  const elements = new ElementTable();
  elements.replace('web', elementsOf([rule('10.96.0.20', endpoints.slice(0, 1))]));
  for (let i = 0; i < 2; i++) await inside('nft', ['-f', '-'], renderTable('10.96.0.0/16', elements.all()));
  assert.deepEqual(await call('10.96.0.20', 80, 3), new Set(endpoints.slice(0, 1)));
  assert.deepEqual(await call('10.96.0.10', 80, 1), new Set(['ECONNREFUSED']));
});
