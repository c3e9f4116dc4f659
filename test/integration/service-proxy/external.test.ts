/**
 * External addresses of Services through the proxier in a real kernel: which pod answers at an address as
 * machines and Services are added and removed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';

const { name: namespace } = claimNamespace('minik8s-external-', 1_000_000);
const inside: Exec = (program, args, options) =>
  systemExec('nsenter', [`--net=/run/netns/${namespace}`, program, ...args], {
    timeoutMs: 60_000,
    ...options,
  });
/** The pod of each Service, by the name of the Service. */
const pods = { alice: '10.244.0.2', bob: '10.244.0.3' };
/** A machine that listens at the external address itself. */
const machine = '203.0.113.8';

const serverProgram = `
  const net = require('node:net');
  const ips = ${JSON.stringify([...Object.values(pods), machine])};
  for (const ip of ips) net.createServer((socket) => socket.on('error', () => {}).end(ip)).listen(8080, ip);
  console.log('listening');
`;
const clientProgram = `
  require('node:net').connect(8080, '${machine}').on('data', (data) => console.log(String(data)))
    .on('error', (error) => console.log(error.code));
`;

let server: ChildProcess;
before(async () => {
  await inside('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...Object.values(pods), machine])
    await inside('ip', ['address', 'add', `${ip}/32`, 'dev', 'lo']);
  const args = [`--net=/run/netns/${namespace}`, process.execPath, '-e', serverProgram];
  server = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (server.stdout) await once(server.stdout, 'data');
});
after(async () => {
  server.kill('SIGKILL');
  await systemExec('ip', ['netns', 'delete', namespace]);
  letGo({ kind: 'namespace', name: namespace });
});

const nodes = { ...nodeResource, part: 'metadata' } as ResourceRef<KubeObject>;
let informers: ScriptedInformers;
let stop: AbortController;
let running: Promise<void>;
beforeEach(() => {
  informers = new ScriptedInformers();
  stop = new AbortController();
  const proxier = createProxier({
    rules: undefined,
    informers,
    nodeInformers: informers,
    exec: inside,
    events: { event: () => undefined },
    nodeName: 'here',
    nodeIP: '192.0.2.1',
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
    clock: systemClock,
    log: new RecordingLogger(),
  });
  running = proxier.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const meta = (namespace: string, name: string, extra: object = {}) => ({
  name,
  namespace,
  uid: `${namespace}/${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...extra,
});
const slice = (namespace: string, service: string, ip: string, port: number) =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta(namespace, service, { labels: { 'kubernetes.io/service-name': service } }),
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port }],
  }) as unknown as EndpointSlice;

/** Adds a Service of this namespace for the external address, with its pod. */
function offer(owner: keyof typeof pods, creationTimestamp: string): void {
  informers.put(serviceResource, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(owner, 'web', { creationTimestamp }),
    spec: {
      type: 'ClusterIP',
      clusterIP: owner === 'alice' ? '10.96.0.2' : '10.96.0.3',
      externalIPs: [machine],
      ports: [{ protocol: 'TCP', port: 8080, targetPort: 8080 }],
    },
  } as unknown as Service);
  informers.put(endpointSliceResource, slice(owner, 'web', pods[owner], 8080));
}
const answeredBy = (ip: string) =>
  waitFor(`an answer of ${ip}`, async () => {
    const { stdout } = await inside(process.execPath, ['-e', clientProgram]);
    if (stdout.trim() !== ip) throw new Error(`answered by ${stdout}`);
    return true;
  });

test('the older of two Services serves the address, whatever their names are, and the younger one after its deletion', async () => {
  await answeredBy(machine);
  offer('alice', '2026-01-01T00:00:02Z');
  await answeredBy(pods.alice);
  offer('bob', '2026-01-01T00:00:01Z');
  await answeredBy(pods.bob);
  informers.remove(serviceResource, 'bob/web');
  await answeredBy(pods.alice);
  informers.remove(serviceResource, 'alice/web');
  await answeredBy(machine);
});

test('a node that joins with the address keeps it, until the node is deleted', async () => {
  offer('alice', '2026-01-01T00:00:00Z');
  await answeredBy(pods.alice);
  const annotations = { 'minik8s.io/node-ip': machine };
  const metadata = { ...meta('', 'n2'), namespace: undefined, annotations };
  informers.put(nodes, { apiVersion: 'v1', kind: 'Node', metadata } as unknown as KubeObject);
  await answeredBy(machine);
  informers.remove(nodes, 'n2');
  await answeredBy(pods.alice);
});

test('a master that joins with the address keeps it, although its API uses another port', async () => {
  offer('alice', '2026-01-01T00:00:00Z');
  await answeredBy(pods.alice);
  informers.put(endpointSliceResource, slice('default', 'kubernetes', machine, 6443));
  await answeredBy(machine);
  informers.put(endpointSliceResource, slice('default', 'kubernetes', '192.0.2.9', 6443));
  await answeredBy(pods.alice);
});
