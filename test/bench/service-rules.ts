/**
 * A change of one of 1,000 Services with 10 endpoints each: the time until the kernel has the change, and its
 * effect on traffic.
 */
import { spawn } from 'node:child_process';
import { type Service, serviceResource } from '../../src/api/core/v1/service/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  serviceNameLabel,
} from '../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { type Exec, systemExec } from '../../src/os/exec.ts';
import { createProxier } from '../../src/service-proxy/proxier.ts';
import { ScriptedInformers } from '../fixtures/scripted-informers.ts';
import { type Benchmark, median, type Row, timed } from './report.ts';

const services = 1000;
const endpointsEach = 10;
const changes = 25;
const namespace = `minik8s-bench-${process.pid}`;

/** Runs the proxier's programs inside the benchmark's own network namespace. */
const inside: Exec = (file, args, options) =>
  systemExec('ip', ['netns', 'exec', namespace, file, ...args], options);

const serviceIP = (n: number) => `10.96.${n >> 8}.${n & 255}`;
const endpointIP = (n: number, slot: number, generation = 0) =>
  `10.${100 + slot + generation}.${n >> 8}.${n & 255}`;

const metadata = (name: string) => ({
  name,
  namespace: 'default',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
});

const makeService = (n: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(`web-${n}`),
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP: serviceIP(n),
    ports: [{ protocol: 'TCP', port: 80, targetPort: 8080 }],
  },
});

/** A `generation` other than 0 gives the last endpoint another address, as a replaced pod has. */
const makeSlice = (n: number, generation = 0): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { ...metadata(`web-${n}-a`), labels: { [serviceNameLabel]: `web-${n}` } },
  addressType: 'IPv4',
  ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  endpoints: Array.from({ length: endpointsEach }, (_, slot) => ({
    addresses: [endpointIP(n, slot, slot === endpointsEach - 1 ? generation : 0)],
    conditions: { ready: true },
  })),
});

/**
 * Connects to service 0 as fast as possible; prints the numbers of successes and failures when its input
 * ends.
 */
const trafficProgram = `
  const net = require('node:net');
  let good = 0, bad = 0, end = false;
  process.stdin.resume().on('end', () => { end = true; });
  const next = () => {
    if (end) { console.log(good, bad); process.exit(); }
    const socket = net.connect(80, '${serviceIP(0)}');
    socket.on('connect', () => { good++; socket.destroy(); }).on('error', () => { bad++; }).on('close', next);
  };
  const ips = ${JSON.stringify(Array.from({ length: endpointsEach }, (_, slot) => endpointIP(0, slot)))};
  let open = ips.length;
  for (const ip of ips) net.createServer((s) => s.on('error', () => {})).listen(8080, ip, () => { if (--open === 0) next(); });
`;

async function run(): Promise<readonly Row[]> {
  await systemExec('ip', ['netns', 'add', namespace]);
  const stop = new AbortController();
  try {
    await inside('ip', ['link', 'set', 'lo', 'up']);
    await inside('ip', ['address', 'add', '192.0.2.1/32', 'dev', 'lo']);
    await inside('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'lo', 'src', '192.0.2.1']);
    for (let slot = 0; slot < endpointsEach; slot++) {
      await inside('ip', ['address', 'add', `${endpointIP(0, slot)}/32`, 'dev', 'lo']);
    }
    return await measure(stop.signal);
  } finally {
    stop.abort();
    await systemExec('ip', ['netns', 'delete', namespace]);
  }
}

async function measure(signal: AbortSignal): Promise<readonly Row[]> {
  const informers = new ScriptedInformers();
  let applied = () => {};
  const nextApplied = () =>
    new Promise<void>((resolve) => {
      applied = resolve;
    });
  const exec: Exec = async (file, args, options) => {
    const result = await inside(file, args, options);
    applied();
    return result;
  };
  const proxier = createProxier({
    rules: undefined,
    informers,
    nodeInformers: informers,
    exec,
    events: { event: () => undefined },
    nodeName: 'bench',
    nodeIP: '192.0.2.1',
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
    clock: systemClock,
    log: silentLogger,
  });
  for (let n = 0; n < services; n++) {
    informers.put(serviceResource, makeService(n));
    informers.put(endpointSliceResource, makeSlice(n));
  }
  const [load = 0] = await timed(1, async () => {
    const done = nextApplied();
    void proxier.run(signal);
    await done;
  });
  const traffic = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', trafficProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const change = await timed(changes, async (round) => {
    const done = nextApplied();
    informers.put(endpointSliceResource, makeSlice(1 + round, 100));
    await done;
  });
  const element = `10.95.0.1 . tcp . 80 . 1 : 10.95.0.2 . 80`;
  const floor = await timed(changes, (round) =>
    inside('nft', ['-f', '-'], {
      input: `${round % 2 === 0 ? 'add' : 'delete'} element ip minik8s-proxy endpoints { ${round % 2 === 0 ? element : element.split(' : ')[0]} }\n`,
    }),
  );
  traffic.stdin.end();
  const counted = await new Promise<string>((resolve) =>
    traffic.stdout.once('data', (data) => resolve(String(data))),
  );
  const [good = 0, bad = 0] = counted.trim().split(' ').map(Number);
  const changed = median(change);
  return [
    {
      what: `service rules: first load of ${services} Services with ${endpointsEach} endpoints each`,
      value: load,
      unit: 'ms',
    },
    {
      what: 'service rules: one Service changed',
      value: changed,
      unit: 'ms',
      floor: { what: 'nft adds one element', value: median(floor) },
      target: '< 100',
      met: changed < 100,
    },
    {
      what: `service rules: failed connections during the changes, of ${good + bad}`,
      value: bad,
      unit: '',
      target: '0',
      met: bad === 0 && good > 0,
    },
  ];
}

export const serviceRules: Benchmark = { name: 'service-rules', run };
