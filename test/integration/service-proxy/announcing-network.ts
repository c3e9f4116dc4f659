/**
 * A real local network with an address of the pool: two nodes and a client are namespaces on one bridge. The
 * nodes' agents share a process with the API server, and can be killed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Lease, leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { poolLeaseName } from '../../../src/api/core/v1/service/pool-lease.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { Announcer } from '../../../src/service-proxy/announcing/announcer.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

export const address = '192.0.2.240';
export const address6 = '2001:db8::240';
const pods = { a: '10.244.1.2', b: '10.244.2.2' } as const;
const pods6 = { a: 'fd00:10:244:1::2', b: 'fd00:10:244:2::2' } as const;
export const nodeIPs = { a: '192.0.2.1', b: '192.0.2.2' } as const;
export const nodeIPv6s = { a: '2001:db8::1', b: '2001:db8::2' } as const;
const clients = ['192.0.2.3', '2001:db8::3'] as const;
type NodeName = keyof typeof nodeIPs;

export const spaces = {
  bridge: claimNamespace('minik8s-arp-', 1_000_000).name,
  a: claimNamespace('minik8s-arp-', 1_000_000).name,
  b: claimNamespace('minik8s-arp-', 1_000_000).name,
  client: claimNamespace('minik8s-arp-', 1_000_000).name,
};
export const within =
  (space: keyof typeof spaces): Exec =>
  (program, args, options) =>
    systemExec('nsenter', [`--net=/run/netns/${spaces[space]}`, program, ...args], {
      timeoutMs: 60_000,
      ...options,
    });
export const inBridge = within('bridge');

const podProgram = (text: NodeName) => `
  require('node:http').createServer((_, response) => response.end('${text}'))
    .listen(8080, '::', () => console.log('listening'));
  process.stdin.resume().on('end', () => process.exit());
`;

let server: TestServer;
export let cluster: Cluster;
const podServers: ChildProcess[] = [];
export const agents = new Map<NodeName, Agent>();

interface Agent {
  readonly announcer: Announcer;
  /** Ends the agent as SIGKILL does: it executes and sends nothing more, and the kernel keeps its rules. */
  kill(): void;
  /** Ends the agent as SIGTERM does. */
  stop(): Promise<void>;
}

/** Starts the proxy and the announcer of a node. */
export function startAgent(name: NodeName): Agent {
  const stop = new AbortController();
  const log = new RecordingLogger();
  let isKilled = false;
  const never = <T>() => new Promise<T>(() => {});
  const user = { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] };
  const direct = inProcessTransport(server.handlerFor(user));
  const transport: Transport = {
    request: (request) => (isKilled ? never() : direct.request(request)),
    close: () => direct.close(),
  };
  const exec: Exec = (...call) => (isKilled ? never() : within(name)(...call));
  const shared = { clock: systemClock, random: systemRandom, log };
  const api = createClient(transport, shared);
  const informers = createInformerFactory({ client: api, ...shared });
  const nodeInformers = createInformerFactory({ client: api, ...shared });
  const leaseInformers = createInformerFactory({ client: api, ...shared });
  const events = createEventRecorder({ client: api, ...shared, component: 'kubelet', host: name });
  const options = {
    informers,
    nodeInformers,
    exec,
    events,
    nodeName: name,
    nodeIP: nodeIPs[name],
    nodeIPv6: nodeIPv6s[name],
    clock: systemClock,
  };
  const proxier = createProxier({
    rules: undefined,
    ...options,
    serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
    log,
  });
  const announcer = new Announcer({ rules: undefined, ...options, client: api, leaseInformers, log });
  const running = (async () => {
    await Promise.all([informers.start(stop.signal), nodeInformers.start(stop.signal)]);
    await Promise.all([proxier.run(stop.signal), announcer.run(stop.signal)]);
  })();
  return {
    announcer,
    kill() {
      isKilled = true;
      stop.abort();
      direct.close();
      void events.stop();
    },
    async stop() {
      stop.abort();
      await running;
      await events.stop();
      assert.deepEqual(log.of('error'), []);
    },
  };
}

/** Makes the network, the pods' programs and the API server. */
export async function startNetwork(): Promise<void> {
  await inBridge('ip', ['link', 'add', 'lan', 'type', 'bridge']);
  await inBridge('ip', ['link', 'set', 'lan', 'up']);
  const places = {
    a: [nodeIPs.a, nodeIPv6s.a],
    b: [nodeIPs.b, nodeIPv6s.b],
    client: clients,
  } as const;
  for (const [space, [ip, ip6]] of Object.entries(places)) {
    const exec = within(space as NodeName);
    await exec('ip', [
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      `to-${space}`,
      'netns',
      spaces.bridge,
    ]);
    await inBridge('ip', ['link', 'set', `to-${space}`, 'master', 'lan', 'up']);
    await exec('ip', ['link', 'set', 'lo', 'up']);
    await exec('ip', ['link', 'set', 'eth0', 'up']);
    await exec('ip', ['address', 'add', `${ip}/24`, 'dev', 'eth0']);
    await exec('ip', ['address', 'add', `${ip6}/64`, 'dev', 'eth0', 'nodad']);
    if (space === 'client') continue;
    await exec('ip', ['address', 'add', `${pods[space as NodeName]}/32`, 'dev', 'lo']);
    await exec('ip', ['address', 'add', `${pods6[space as NodeName]}/128`, 'dev', 'lo']);
    const args = [
      `--net=/run/netns/${spaces[space as NodeName]}`,
      process.execPath,
      '-e',
      podProgram(space as NodeName),
    ];
    const started = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    podServers.push(started);
    await once(started.stdout, 'data');
  }
  server = await startTestServer({
    clock: systemClock,
    serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
  });
  cluster = await startCluster({ server });
  for (const name of ['a', 'b'] as const) await addNode(name);
  await cluster.client.resource(configMapResource).create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name: 'load-balancer-pool' },
    data: { addresses: `${address}, ${address6}` },
  });
}

/** Stops the agents and the server, and removes the network. */
export async function stopNetwork(): Promise<void> {
  for (const agent of agents.values()) await agent.stop();
  await cluster.stop();
  for (const one of podServers) one.stdin?.end();
  for (const name of Object.values(spaces)) {
    await systemExec('ip', ['netns', 'delete', name]);
    letGo({ kind: 'namespace', name });
  }
}

async function addNode(name: NodeName): Promise<void> {
  const nodes = cluster.client.resource(nodeResource);
  await nodes.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'minik8s.io/node-ip': nodeIPs[name], 'minik8s.io/node-ipv6': nodeIPv6s[name] },
    },
    spec: {},
  } as never);
  const status = {
    addresses: [nodeIPs[name], nodeIPv6s[name]].map((address) => ({ type: 'InternalIP', address })),
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await nodes.patch(name, '', 'merge', { status }, 'status');
}

export const admin = (): Client => cluster.client;

/** Makes a Service whose pods run on these nodes, with endpoints of a family. */
export async function offer(
  spec: object,
  nodes: readonly NodeName[],
  family: 'IPv4' | 'IPv6' = 'IPv4',
): Promise<void> {
  const metadata = { name: 'web', namespace: 'default' };
  await admin()
    .resource(serviceResource)
    .create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080 }], ...spec },
    } as unknown as Draft<Service>);
  await admin()
    .resource(endpointSliceResource)
    .create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: family,
      endpoints: endpointsOn(nodes, family === 'IPv4' ? pods : pods6),
      ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    } as unknown as Draft<EndpointSlice>);
}
const endpointsOn = (nodes: readonly NodeName[], ips: Record<NodeName, string> = pods) =>
  nodes.map((nodeName) => ({ addresses: [ips[nodeName]], nodeName, conditions: { ready: true } }));
export const setEndpoints = (nodes: readonly NodeName[], family: 'IPv4' | 'IPv6' = 'IPv4') =>
  admin()
    .resource(endpointSliceResource)
    .patch('web', 'default', 'merge', {
      endpoints: endpointsOn(nodes, family === 'IPv4' ? pods : pods6),
    });

/** Returns the text of the pod that answers, or the reason of curl. */
export async function call(port = 80, at = address): Promise<string> {
  try {
    const host = at.includes(':') ? `[${at}]` : at;
    const args = ['-sSg', '--connect-timeout', '0.3', '--max-time', '1', `http://${host}:${port}/`];
    return (await within('client')('curl', args)).stdout;
  } catch (error) {
    return String(error);
  }
}
export const answers = (expected: string, at = address) =>
  waitFor(
    `${expected} answers`,
    async () => {
      const found = await call(80, at);
      if (found !== expected) throw new Error(found);
      return performance.now();
    },
    { intervalMs: 20 },
  );
export const holder = async (at = address): Promise<string | undefined> =>
  ((await cluster.get(leaseResource, poolLeaseName(at), 'kube-system')) as Lease | undefined)?.spec
    .holderIdentity;
export const holds = (name: string, at = address) =>
  waitFor(`${name} holds the Lease`, async () => {
    if ((await holder(at)) !== name) throw new Error(`${await holder(at)} does`);
    return true;
  });
/** Returns the hardware addresses that answer a new request for the address. */
export async function answering(at = address): Promise<readonly string[]> {
  const exec = within('client');
  await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
  await call(80, at);
  const found = JSON.parse((await exec('ip', ['-json', 'neigh', 'show', at])).stdout || '[]');
  return found.flatMap(({ lladdr }: { lladdr?: string }) => (lladdr ? [lladdr] : []));
}
export const hardware = async (name: NodeName): Promise<string> =>
  JSON.parse((await within(name)('ip', ['-json', 'link', 'show', 'eth0'])).stdout)[0].address;
