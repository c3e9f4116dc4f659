/** Three hosts that can become nodes of one overlay, and requests between them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import type { Host } from '../../e2e/harness/host.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { OverlayNode, type TestPod } from './overlay-node.ts';

/** Answers every connection with the address it came from, and a request for `N` bytes with N bytes. */
const serverProgram = `
  require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const count = Number(data);
      socket.end(count > 0 ? Buffer.alloc(count, 'x') : socket.remoteAddress + '\\n');
    });
  }).listen(8080, '0.0.0.0');
`;

const clientProgram = (ip: string, count: number, port: number) => `
  let length = 0, text = '';
  const socket = require('node:net').connect(${port}, '${ip}', () => socket.write('${count}'));
  socket.on('data', (data) => { length += data.length; if (length < 100) text += data; });
  socket.on('end', () => console.log(${count} > 0 ? length : text.trim()));
  socket.on('error', (error) => { console.log(error.code); });
  setTimeout(() => { console.log('timeout', length); process.exit(); }, 8000).unref();
`;

interface Rig {
  readonly hosts: Hosts;
  readonly nodes: readonly OverlayNode[];
  node(number: number): OverlayNode;
}

export async function startRig(context: TestContext): Promise<Rig> {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const server = await startTestServer({ clock: systemClock, random: new SeededRandom(process.pid) });
  context.after(() => server.stop());
  const nodes = hosts.all.map((host, number) => new OverlayNode(server, host, number));
  for (const node of nodes) await node.setUp();
  return {
    hosts,
    nodes,
    node(number) {
      const node = nodes[number];
      assert.ok(node);
      return node;
    },
  };
}

export const routesOf = (host: Host) => host.run('ip', 'route', 'show', 'proto', '107');

/**
 * Waits for these routes, beside that to Services. Routes follow joins and leaves within a second on an idle
 * machine; a busy machine may take longer.
 */
export async function untilRoutes(host: Host, wanted: readonly string[]): Promise<void> {
  const lines = async () =>
    (await routesOf(host))
      .split('\n')
      .map((line) => line.trim())
      .sort();
  const services = `10.96.0.0/16 dev eth0 scope link src ${host.address}`;
  const text = [...wanted, services].sort().join();
  await waitFor(`routes ${text}`, async () => (await lines()).join() === text, { intervalMs: 20 }).catch(
    async (error: Error) => {
      throw new Error(`${error.message}; there are ${(await lines()).join()}`);
    },
  );
}

export const refusal = 'unreachable 10.244.0.0/16';
export const overLink = (number: number) =>
  `10.244.${number}.0/24 via 10.244.${number}.0 dev minik8s.vxlan onlink`;

export const serve = (pod: TestPod, host: Host) => {
  const child = pod.spawn(host, process.execPath, '-e', serverProgram);
  host.after(async () => void child.kill());
};

export const ask = async (from: Pick<TestPod, 'exec'>, ip: string, count = 0, port = 8080) =>
  (await from.exec(process.execPath, ['-e', clientProgram(ip, count, port)])).stdout.trim();

export const clusterIP = '10.96.0.20';
export const nodePort = 30080;

/** Returns the rules that a node's proxy receives for a Service with these endpoints. */
export function rulesFor(ips: readonly string[], { podCIDR }: OverlayNode, local = false): ServicePortRules {
  const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1);
  const endpoints = ips.map((ip) => ({ ip, port: 8080, local: ip.startsWith(prefix) }));
  const own = endpoints.filter((endpoint) => endpoint.local);
  return {
    addresses: [clusterIP],
    protocol: 'tcp',
    port: 80,
    endpoints,
    nodePort: { port: nodePort, endpoints: local ? own : endpoints, masquerade: !local },
  };
}

export const pings = (from: Pick<TestPod, 'exec'>, ip: string, ...more: string[]) =>
  from.exec('ping', ['-c', '1', '-W', '1', ...more, ip]).then(
    () => true,
    () => false,
  );
