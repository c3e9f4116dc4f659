/**
 * Ports of load balancers in a real kernel: another machine, this machine and a pod call a node's address,
 * while a process of the node takes the port, and clients are limited.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';

const { name: node } = claimNamespace('minik8s-lb-', 1_000_000);
const { name: elsewhere } = claimNamespace('minik8s-lb-', 1_000_000);
const in_ =
  (namespace: string): Exec =>
  (program, args, options) =>
    systemExec('nsenter', [`--net=/run/netns/${namespace}`, program, ...args], {
      timeoutMs: 60_000,
      ...options,
    });
const inside = in_(node);
const machine = '192.0.2.1';
const client = '192.0.2.2';
const otherClient = '192.0.2.3';
const pod = '10.244.0.2';
const [machine6, client6, otherClient6] = ['2001:db8:1::1', '2001:db8:1::2', '2001:db8:1::3'];
const pod6 = 'fd00:10:244::2';

/** Answers with the text to each connection. */
const serverProgram = (ip: string, port: number, text: string) => `
  require('node:net').createServer((socket) => socket.on('error', () => {}).end('${text}'))
    .listen(${port}, '${ip}', () => console.log('listening'));
`;
const clientProgram = (port: number, from: string) => `
  const socket = require('node:net').connect({ port: ${port}, host: '${from.includes(':') ? machine6 : machine}', localAddress: '${from}' });
  socket.on('data', (data) => { console.log(String(data)); socket.destroy(); })
    .on('error', (error) => console.log(error.code)).setTimeout(700, () => { console.log('silent'); socket.destroy(); });
`;

async function serve(ip: string, port: number, text: string): Promise<ChildProcess> {
  const args = [`--net=/run/netns/${node}`, process.execPath, '-e', serverProgram(ip, port, text)];
  const server = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (server.stdout) await once(server.stdout, 'data');
  return server;
}

let podServers: readonly ChildProcess[] = [];
before(async () => {
  await inside('ip', ['link', 'set', 'lo', 'up']);
  await inside('ip', ['address', 'add', `${pod}/32`, 'dev', 'lo']);
  await inside('ip', ['address', 'add', `${pod6}/128`, 'dev', 'lo']);
  await inside('ip', ['link', 'add', 'way', 'type', 'veth', 'peer', 'name', 'way', 'netns', elsewhere]);
  for (const [where, addresses] of [
    [node, [`${machine}/24`, `${machine6}/64`]],
    [elsewhere, [client, otherClient].map((ip) => `${ip}/24`).concat(`${client6}/64`, `${otherClient6}/64`)],
  ] as const) {
    for (const address of addresses)
      await in_(where)('ip', [
        'address',
        'add',
        address,
        'dev',
        'way',
        ...(address.includes(':') ? ['nodad'] : []),
      ]);
    await in_(where)('ip', ['link', 'set', 'way', 'up']);
  }
  podServers = [await serve(pod, 8080, 'pod'), await serve(pod6, 8080, 'pod')];
});
after(async () => {
  for (const server of podServers) server.kill('SIGKILL');
  for (const name of [node, elsewhere]) {
    await systemExec('ip', ['netns', 'delete', name]);
    letGo({ kind: 'namespace', name });
  }
});

let informers: ScriptedInformers;
let stop: AbortController;
let running: Promise<void>;
let events: string[];
beforeEach(() => {
  informers = new ScriptedInformers();
  stop = new AbortController();
  events = [];
  const proxier = createProxier({
    rules: undefined,
    informers,
    nodeInformers: informers,
    exec: inside,
    events: { event: (_, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    nodeName: 'here',
    nodeIP: machine,
    nodeIPv6: machine6,
    serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
    clock: systemClock,
    log: new RecordingLogger(),
  });
  running = proxier.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const meta = (extra: object = {}) => ({
  name: 'web',
  namespace: 'default',
  uid: 'web',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...extra,
});

/** Adds a Service on port 80 with one pod, whose status has the address of the node. */
function offer(spec: object = {}, ingress: readonly string[] = [machine]): void {
  informers.put(serviceResource, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(),
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.2',
      ports: [{ protocol: 'TCP', port: 80, targetPort: 8080 }],
      ...spec,
    },
    status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip, ipMode: 'Proxy' })) } },
  } as unknown as Service);
  informers.put(endpointSliceResource, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta({ labels: { 'kubernetes.io/service-name': 'web' } }),
    addressType: 'IPv4',
    endpoints: [{ addresses: [pod], nodeName: 'here', conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  } as unknown as EndpointSlice);
}

async function answer(from: string): Promise<string> {
  const exec = [machine, machine6, pod, pod6].includes(from) ? inside : in_(elsewhere);
  const { stdout } = await exec(process.execPath, ['-e', clientProgram(80, from)]);
  return stdout.trim();
}
const answers = (from: string, expected: string) =>
  waitFor(`${expected} for ${from}`, async () => {
    const found = await answer(from);
    if (found !== expected) throw new Error(`answered ${found}`);
    return true;
  });

test('other machines, this machine and the pod itself reach the pod at the address of the node', async () => {
  await answers(client, 'ECONNREFUSED');
  offer();
  await answers(client, 'pod');
  await answers(machine, 'pod');
  await answers(pod, 'pod');
  informers.remove(serviceResource, 'default/web');
  await answers(client, 'ECONNREFUSED');
});

test('only permitted clients reach the pod; packets of other clients are dropped', async () => {
  offer({ loadBalancerSourceRanges: [`${client}/32`, '198.51.100.0/24', '198.51.100.0/25'] });
  await answers(client, 'pod');
  assert.equal(await answer(otherClient), 'silent');
  offer({ loadBalancerSourceRanges: [`${otherClient}/32`] });
  await answers(otherClient, 'pod');
  assert.equal(await answer(client), 'silent');
  offer();
  await answers(client, 'pod');
});

/** Adds a Service of both families, whose status has these addresses of the node. */
function offerBoth(ingress: readonly string[], spec: object = {}): void {
  const meta6 = meta({ name: 'web-6', labels: { 'kubernetes.io/service-name': 'web' } });
  offer({ clusterIPs: ['10.96.0.2', 'fd00:10:96::2'], ipFamilies: ['IPv4', 'IPv6'], ...spec }, ingress);
  informers.put(endpointSliceResource, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta6,
    addressType: 'IPv6',
    endpoints: [{ addresses: [pod6], nodeName: 'here', conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  } as unknown as EndpointSlice);
}

test('a Service of both families is served over IPv6 too, if its status has the IPv6 address of the node', async () => {
  offerBoth([machine, machine6]);
  for (const from of [client, client6, machine6, pod6]) await answers(from, 'pod');
  offerBoth([machine]);
  await answers(client6, 'ECONNREFUSED');
  await answers(client, 'pod');
});

test('ranges of permitted clients of both families hold for the clients of each', async () => {
  offerBoth([machine, machine6], { loadBalancerSourceRanges: [`${client}/32`, `${client6}/128`] });
  for (const from of [client, client6]) await answers(from, 'pod');
  for (const from of [otherClient, otherClient6]) assert.equal(await answer(from), 'silent');
  offerBoth([machine, machine6], { loadBalancerSourceRanges: ['192.0.2.0/24'] });
  await answers(otherClient, 'pod');
  assert.equal(await answer(client6), 'silent');
});

test('a process of the node keeps its port, and the Service has an event', async () => {
  const own = await serve('0.0.0.0', 80, 'own');
  try {
    offer();
    await waitFor('the event', async () => {
      if (events.length === 0) throw new Error('none yet');
      return true;
    });
    assert.deepEqual(events, [
      'Warning PortHeldByProcess a process of node here listens on port 80 (TCP) and keeps it: this node does not serve the Service there',
    ]);
    await answers(client, 'own');
    await answers(machine, 'own');
  } finally {
    own.kill('SIGKILL');
  }
  // The listeners are also checked at each change of a Service, and at an interval (unit/service-proxy).
  offer({ sessionAffinity: 'ClientIP' });
  await answers(client, 'pod');
});
