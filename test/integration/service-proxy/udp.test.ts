/**
 * UDP through the proxier in a real kernel: a client that keeps its socket reaches another endpoint when its
 * endpoint is removed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { RoutedPodNetwork } from '../../../src/network/pod-network.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { claimNamespace } from '../../e2e/harness/namespace.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';

const { name: namespace } = claimNamespace('minik8s-udp-', 1_000_000);
const inside: Exec = (program, args, options) =>
  systemExec('nsenter', [`--net=/run/netns/${namespace}`, program, ...args], {
    timeoutMs: 60_000,
    ...options,
  });
const endpoints = ['10.244.0.2', '10.244.0.3'];
const serviceIP = '10.96.0.53';

/** Answers with the address at which it was reached. */
const serverProgram = `
  const dgram = require('node:dgram');
  for (const ip of ${JSON.stringify(endpoints)}) {
    const socket = dgram.createSocket('udp4');
    socket.on('message', (_, { address, port }) => socket.send(ip, port, address)).bind(5353, ip);
  }
  console.log('listening');
`;

/** Sends a request every 20 ms from one port until it ends, and prints every answer. */
const clientProgram = (from: number, address: string, port: number) => `
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (answer) => console.log(String(answer))).on('error', () => {});
  socket.bind(${from}, () => setInterval(() => socket.send('?', ${port}, '${address}'), 20));
`;

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'names', namespace: 'default', uid: 'u1', resourceVersion: '1' },
  spec: {
    type: 'NodePort',
    clusterIP: serviceIP,
    clusterIPs: [serviceIP],
    ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353, nodePort: 30053 }],
  },
} as unknown as Service;

const slice = (addresses: readonly string[]) =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'names-1',
      namespace: 'default',
      uid: 'u2',
      resourceVersion: '2',
      labels: { 'kubernetes.io/service-name': 'names' },
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'dns', protocol: 'UDP', port: 5353 }],
  }) as unknown as EndpointSlice;

const children: ChildProcess[] = [];

function start(program: string, onOutput: (text: string) => void): void {
  const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  child.stdout?.on('data', (chunk: Buffer) => onOutput(String(chunk)));
}

before(async () => {
  await inside('ip', ['link', 'set', 'lo', 'up']);
  for (const ip of [...endpoints, '192.0.2.1'])
    await inside('ip', ['address', 'add', `${ip}/32`, 'dev', 'lo']);
  await inside('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', '192.0.2.1']);
  let output = '';
  start(serverProgram, (text) => {
    output += text;
  });
  await waitFor('the servers', () => output.includes('listening'));
});

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await systemExec('ip', ['netns', 'delete', namespace]);
  letGo({ kind: 'namespace', name: namespace });
});

/** Returns the answers that a client which keeps its socket receives. */
function client(from: number, address: string, port: number) {
  let last = '';
  start(clientProgram(from, address, port), (text) => {
    last = text.trim().split('\n').at(-1) ?? '';
  });
  return {
    reached: (ip: string) => {
      last = '';
      return waitFor(`an answer of ${ip}`, () => last === ip, { timeoutMs: 60_000, intervalMs: 20 });
    },
    silence: () =>
      waitFor('silence', async () => {
        last = '';
        await inside('sleep', ['0.2']);
        return last === '';
      }),
  };
}

for (const [from, address, port] of [
  [40000, serviceIP, 53],
  [40001, '192.0.2.1', 30053],
] as const) {
  test(`a flow to ${address}:${port} ends with its endpoint, and a flow that began without an endpoint reaches the first one`, async () => {
    const informers = new ScriptedInformers();
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
    const stop = new AbortController();
    const running = proxier.run(stop.signal);
    try {
      const { reached, silence } = client(from, address, port);
      informers.put(serviceResource, service);
      for (const ip of [endpoints[0], endpoints[1], endpoints[0]] as string[]) {
        informers.put(endpointSliceResource, slice([ip]));
        await reached(ip);
      }
      informers.put(endpointSliceResource, slice([]));
      await silence();
      informers.put(endpointSliceResource, slice(endpoints.slice(1)));
      await reached(endpoints[1] as string);
    } finally {
      stop.abort();
      await running;
    }
  });
}

for (const [from, address, hostIP] of [
  [40002, '192.0.2.1', ''],
  [40003, '192.0.2.1', '192.0.2.1'],
  [40004, '127.0.0.1', ''],
] as const) {
  const where = hostIP === '' ? 'any address' : hostIP;
  test(`a flow to ${address} reaches the pod that now has the host port, which is open at ${where}`, async () => {
    const log = new RecordingLogger();
    const node = { exec: inside, nodeIP: '192.0.2.1', clusterCIDR: '10.244.0.0/16' };
    const network = new RoutedPodNetwork({ rules: undefined, ...node, log });
    await network.setUp('10.244.0.0/24');
    const [one, two] = endpoints.map((podIP) => [
      { protocol: 'UDP', hostIP, hostPort: 29999, podIP, containerPort: 5353 } as const,
    ]);
    // The endpoints are on loopback here, where the kernel otherwise drops packets that were sent to
    // 127.0.0.1.
    await inside('sysctl', ['-qw', 'net.ipv4.conf.all.route_localnet=1']);
    const { reached, silence } = client(from, address, 29999);
    for (const ports of [one, two, one]) {
      await network.setHostPorts(ports ?? []);
      await reached(ports?.[0]?.podIP ?? '');
    }
    await network.setHostPorts([]);
    await silence();
    await network.setHostPorts(two ?? []);
    await reached(endpoints[1] as string);
    // An agent that ended between the two calls: the next agent has no record of earlier ports.
    const next = new RoutedPodNetwork({ rules: undefined, ...node, log });
    await next.setUp('10.244.0.0/24');
    await next.setHostPorts(one ?? []);
    await reached(endpoints[0] as string);
    await next.setHostPorts([]);
    assert.deepEqual(
      log.lines.filter(({ level }) => level !== 'info'),
      [],
    );
  });
}
