/**
 * Addresses of the pool in a real local network: two nodes and a client are namespaces on one bridge, and the
 * client calls the address while the node that answers for it dies.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { type Lease, leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
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
import { removeAnnouncements } from '../../../src/service-proxy/announcing/kernel.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const address = '192.0.2.240';
const pods = { a: '10.244.1.2', b: '10.244.2.2' } as const;
const nodeIPs = { a: '192.0.2.1', b: '192.0.2.2' } as const;
const client = '192.0.2.3';
type NodeName = keyof typeof nodeIPs;

const spaces = {
  bridge: claimNamespace('minik8s-arp-', 1_000_000).name,
  a: claimNamespace('minik8s-arp-', 1_000_000).name,
  b: claimNamespace('minik8s-arp-', 1_000_000).name,
  client: claimNamespace('minik8s-arp-', 1_000_000).name,
};
const within =
  (space: keyof typeof spaces): Exec =>
  (program, args, options) =>
    systemExec('nsenter', [`--net=/run/netns/${spaces[space]}`, program, ...args], {
      timeoutMs: 60_000,
      ...options,
    });
const inBridge = within('bridge');

const podProgram = (text: NodeName) => `
  require('node:http').createServer((_, response) => response.end('${text}'))
    .listen(8080, '${pods[text]}', () => console.log('listening'));
  process.stdin.resume().on('end', () => process.exit());
`;

let server: TestServer;
let cluster: Cluster;
const podServers: ChildProcess[] = [];
const agents = new Map<NodeName, Agent>();

interface Agent {
  readonly announcer: Announcer;
  /** Ends the agent as SIGKILL does: it executes and sends nothing more, and the kernel keeps its rules. */
  kill(): void;
  /** Ends the agent as SIGTERM does. */
  stop(): Promise<void>;
}

/** Starts the proxy and the announcer of a node. */
function startAgent(name: NodeName): Agent {
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
    clock: systemClock,
  };
  const proxier = createProxier({
    rules: undefined,
    ...options,
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
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

before(async () => {
  await inBridge('ip', ['link', 'add', 'lan', 'type', 'bridge']);
  await inBridge('ip', ['link', 'set', 'lan', 'up']);
  for (const [space, ip] of Object.entries({ ...nodeIPs, client })) {
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
    if (space === 'client') continue;
    await exec('ip', ['address', 'add', `${pods[space as NodeName]}/32`, 'dev', 'lo']);
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
  server = await startTestServer({ clock: systemClock });
  cluster = await startCluster({ server });
  for (const name of ['a', 'b'] as const) await addNode(name);
  await cluster.client.resource(configMapResource).create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name: 'load-balancer-pool' },
    data: { addresses: address },
  });
});
after(async () => {
  for (const agent of agents.values()) await agent.stop();
  await cluster.stop();
  for (const one of podServers) one.stdin?.end();
  for (const name of Object.values(spaces)) {
    await systemExec('ip', ['netns', 'delete', name]);
    letGo({ kind: 'namespace', name });
  }
});

async function addNode(name: NodeName): Promise<void> {
  const nodes = cluster.client.resource(nodeResource);
  await nodes.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: { 'minik8s.io/node-ip': nodeIPs[name] } },
    spec: {},
  } as never);
  const status = {
    addresses: [{ type: 'InternalIP', address: nodeIPs[name] }],
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await nodes.patch(name, '', 'merge', { status }, 'status');
}

const admin = (): Client => cluster.client;

/** Makes a Service whose pods run on these nodes. */
async function offer(spec: object, nodes: readonly NodeName[]): Promise<void> {
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
      addressType: 'IPv4',
      endpoints: endpointsOn(nodes),
      ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    } as unknown as Draft<EndpointSlice>);
}
const endpointsOn = (nodes: readonly NodeName[]) =>
  nodes.map((nodeName) => ({ addresses: [pods[nodeName]], nodeName, conditions: { ready: true } }));
const setEndpoints = (nodes: readonly NodeName[]) =>
  admin()
    .resource(endpointSliceResource)
    .patch('web', 'default', 'merge', { endpoints: endpointsOn(nodes) });

/** Returns the text of the pod that answers, or the reason of curl. */
async function call(port = 80): Promise<string> {
  try {
    const args = ['-sS', '--connect-timeout', '0.3', '--max-time', '1', `http://${address}:${port}/`];
    return (await within('client')('curl', args)).stdout;
  } catch (error) {
    return String(error);
  }
}
const answers = (expected: string) =>
  waitFor(
    `${expected} answers`,
    async () => {
      const found = await call();
      if (found !== expected) throw new Error(found);
      return performance.now();
    },
    { intervalMs: 20 },
  );
const holder = async (): Promise<string | undefined> =>
  ((await cluster.get(leaseResource, `load-balancer.${address}`, 'kube-system')) as Lease | undefined)?.spec
    .holderIdentity;
const holds = (name: string) =>
  waitFor(`${name} holds the Lease`, async () => {
    if ((await holder()) !== name) throw new Error(`${await holder()} does`);
    return true;
  });
/** Returns the hardware addresses that answer a new request for the address. */
async function answering(): Promise<readonly string[]> {
  const exec = within('client');
  await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
  await call();
  const found = JSON.parse((await exec('ip', ['-json', 'neigh', 'show', address])).stdout || '[]');
  return found.flatMap(({ lladdr }: { lladdr?: string }) => (lladdr ? [lladdr] : []));
}
const hardware = async (name: NodeName): Promise<string> =>
  JSON.parse((await within(name)('ip', ['-json', 'link', 'show', 'eth0'])).stdout)[0].address;

test('one node answers for the address, and no process of that node is reached at it', async () => {
  agents.set('a', startAgent('a'));
  await offer({ externalTrafficPolicy: 'Local' }, ['a']);
  await holds('a');
  await answers('a');
  agents.set('b', startAgent('b'));
  const own = spawn('nsenter', [
    `--net=/run/netns/${spaces.a}`,
    ...[
      process.execPath,
      '-e',
      `require('node:net').createServer((one) => one.end()).listen(2222, '0.0.0.0')`,
    ],
  ]);
  try {
    await waitFor('the process listens', async () => {
      const { stdout } = await within('a')('ss', ['-Hlnt']);
      if (!stdout.includes(':2222')) throw new Error('not yet');
      return true;
    });
    assert.match(await call(2222), /Connection refused|Failed to connect/);
  } finally {
    own.kill('SIGKILL');
  }
  const events = await waitFor('the event', async () => {
    const found = await cluster.list(eventResource, 'default');
    if (!found.some(({ reason }) => reason === 'AddressAnnounced')) throw new Error('none yet');
    return found;
  });
  assert.ok(events.some(({ message }) => message === `node a answers for ${address} on eth0`));
});

test('another machine that begins to use the address is detected by the node that answers', async () => {
  const announcer = agents.get('a')?.announcer;
  assert.deepEqual(await announcer?.rivals(), []);
  const exec = within('client');
  // The client asks as if the address were its own.
  await exec('ip', ['address', 'add', `${address}/32`, 'dev', 'eth0']);
  try {
    await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
    const asked = ['route', 'replace', `${nodeIPs.a}/32`, 'dev', 'eth0', 'src', address];
    await exec('ip', asked);
    const rivals = await waitFor('the rival', async () => {
      await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
      await exec('curl', ['--silent', '--max-time', '1', `http://${nodeIPs.a}:9/`]).catch(() => undefined);
      const found = await announcer?.rivals();
      if (!found?.length) throw new Error('none yet');
      return found;
    });
    const { stdout } = await exec('ip', ['-json', 'link', 'show', 'eth0']);
    assert.deepEqual(rivals, [{ address, machine: JSON.parse(stdout)[0].address, service: 'default/web' }]);
    await exec('ip', ['route', 'del', `${nodeIPs.a}/32`, 'dev', 'eth0']);
  } finally {
    await exec('ip', ['address', 'delete', `${address}/32`, 'dev', 'eth0']);
  }
});

test('with the policy Local the address follows the pods', async () => {
  await setEndpoints(['b']);
  await answers('b');
  await holds('b');
  assert.deepEqual(await answering(), [await hardware('b')]);
  await setEndpoints(['a', 'b']);
});

test('the address moves when the agent of its node is killed, and the killed node no longer answers', async (context) => {
  await holds('b');
  agents.get('b')?.kill();
  agents.delete('b');
  const since = performance.now();
  const moved = (await answers('a')) - since;
  context.diagnostic(`moved after the kill of the agent in ${Math.round(moved)} ms`);
  await holds('a');
  assert.deepEqual(await answering(), [await hardware('a')]);
});

test('an agent that starts again does not take the address over, and an agent that stops hands it over', async (context) => {
  agents.set('b', startAgent('b'));
  await waitFor('the address is no longer on the link of b', async () => {
    const { stdout } = await within('b')('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
    if (stdout.includes(address)) throw new Error(stdout);
    return true;
  });
  await answers('a');
  const since = performance.now();
  await agents.get('a')?.stop();
  agents.delete('a');
  const moved = (await answers('b')) - since;
  context.diagnostic(`handed over in ${Math.round(moved)} ms`);
  await holds('b');
});

test('the address moves when its node loses power', async (context) => {
  agents.set('a', startAgent('a'));
  await answers('b');
  agents.get('b')?.kill();
  agents.delete('b');
  await inBridge('ip', ['link', 'set', 'to-b', 'down']);
  const since = performance.now();
  const moved = (await answers('a')) - since;
  context.diagnostic(`moved after the loss of the node in ${Math.round(moved)} ms`);
});

test('an address that another machine has is not taken, and the Service has an event with its hardware address', async () => {
  await admin().resource(serviceResource).delete('web', 'default');
  await admin().resource(endpointSliceResource).delete('web', 'default');
  await waitFor('the Lease is gone', async () => {
    if (await cluster.get(leaseResource, `load-balancer.${address}`, 'kube-system'))
      throw new Error('still there');
    return true;
  });
  await waitFor('the address is free', async () => {
    const { stdout } = await within('a')('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
    if (stdout.includes(address)) throw new Error(stdout);
    return true;
  });
  await within('client')('ip', ['address', 'add', `${address}/32`, 'dev', 'eth0']);
  await offer({}, ['a']);
  const message = await waitFor('the event', async () => {
    const found = (await cluster.list(eventResource, 'default')).find(
      ({ reason }) => reason === 'AddressInUse',
    );
    if (!found) throw new Error('none yet');
    return found.message ?? '';
  });
  const { stdout } = await within('client')('ip', ['-json', 'link', 'show', 'eth0']);
  assert.ok(message.includes(JSON.parse(stdout)[0].address), message);
  assert.equal(await holder(), undefined);
  assert.deepEqual(await agents.get('a')?.announcer.rivals(), [
    { address, machine: JSON.parse(stdout)[0].address, service: 'default/web' },
  ]);
});

test('removeAnnouncements removes the addresses and rules that a node has in the kernel', async () => {
  await agents.get('a')?.stop();
  agents.delete('a');
  const stopped = within('a');
  await stopped('ip', [
    ...['address', 'replace', `${address}/32`, 'dev', 'eth0', 'scope', 'host'],
    ...['valid_lft', '60', 'preferred_lft', '60'],
  ]);
  assert.match((await stopped('nft', ['list', 'tables'])).stdout, /minik8s-announced/);
  for (const _ of ['once', 'again']) await removeAnnouncements(stopped);
  assert.doesNotMatch((await stopped('nft', ['list', 'tables'])).stdout, /minik8s-announced/);
  const { stdout } = await stopped('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
  assert.ok(!stdout.includes(address) && stdout.includes(nodeIPs.a), stdout);
});
