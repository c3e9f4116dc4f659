/**
 * A hundred pods with a readiness probe each second, on the built file and real Docker, beside a program that
 * only sends requests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Pod, podResource } from '../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/rest-client.ts';
import { Cluster } from '../e2e/harness/cluster.ts';
import { helloImage as image, makeImages } from '../e2e/harness/images.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { adminTransport } from './admin-transport.ts';
import type { Benchmark, Row } from './report.ts';
import { usageOf } from './usage.ts';

const count = 100;
const measureMs = 20_000;
const settleMs = 5000;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const isReady = (pod: Pod) =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/**
 * Creates the pods and resolves with their addresses once all are ready. `probe` returns the probe of the pod
 * with that number.
 */
async function makePods(client: Client, probe?: (number: number) => object): Promise<readonly string[]> {
  const pods = client.resource(podResource);
  for (let number = 0; number < count; number++) {
    const readinessProbe = probe && { httpGet: probe(number), periodSeconds: 1, timeoutSeconds: 1 };
    const containers = [
      { name: 'hello', image, imagePullPolicy: 'IfNotPresent', ...(readinessProbe && { readinessProbe }) },
    ];
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `probed-${number}`, namespace: 'default' },
      spec: { containers, terminationGracePeriodSeconds: 0 } as unknown as Pod['spec'],
    });
  }
  const ready = async () => {
    const { items } = await pods.list({ namespace: 'default' });
    return items.length === count && items.every(isReady) && items;
  };
  const found = await waitFor('the pods', ready, { timeoutMs: 120_000, intervalMs: 500 });
  return found.map(({ status }) => status?.podIP ?? '');
}

async function removePods(client: Client): Promise<void> {
  const pods = client.resource(podResource);
  for (let number = 0; number < count; number++)
    await pods.delete(`probed-${number}`, 'default', { gracePeriodSeconds: 0 });
  const gone = async () => (await pods.list({ namespace: 'default' })).items.length === 0;
  await waitFor('the removal of the pods', gone, { timeoutMs: 120_000, intervalMs: 500 });
}

/** Returns the load in per cent of one processor. */
async function load(pid: number): Promise<number> {
  await wait(settleMs);
  const before = usageOf(pid);
  const start = performance.now();
  await wait(measureMs);
  return ((usageOf(pid).cpu - before.cpu) * 100_000) / (performance.now() - start);
}

/** A program, as text, that requests each address once a second on a new connection. */
const asking = `
import { Agent, get } from 'node:http';
const agent = new Agent({ keepAlive: false });
for (const url of process.argv.slice(1)) setTimeout(() => setInterval(() => {
  get(url, { agent }, (response) => response.resume()).on('error', () => {});
}, 1000), Math.random() * 1000);
`;

async function whileAsking<T>(urls: readonly string[], work: (pid: number) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', asking, ...urls], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    return await work(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/**
 * Returns the 99th percentile of the delays in milliseconds, relative to the earliest request of each pod.
 */
function lateness(arrivals: ReadonlyMap<string, readonly number[]>): number {
  if (arrivals.size < count) throw new Error(`only ${arrivals.size} of ${count} were asked`);
  const late = [...arrivals.values()].flatMap((times) => {
    const shifts = times.map((time, index) => time - index * 1000);
    const earliest = Math.min(...shifts);
    return shifts.map((shift) => shift - earliest);
  });
  return late.toSorted((a, b) => a - b)[Math.floor(late.length * 0.99)] ?? Number.NaN;
}

interface Lateness {
  readonly probes: number;
  readonly plain: number;
}

async function measureLateness(cluster: Cluster): Promise<Lateness> {
  const arrivals = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    arrivals.set(path, [...(arrivals.get(path) ?? []), performance.now()]);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const measure = async () => {
    await wait(settleMs);
    arrivals.clear();
    await wait(measureMs);
    return lateness(arrivals);
  };
  try {
    const { port } = server.address() as AddressInfo;
    const urls = Array.from({ length: count }, (_, number) => `http://127.0.0.1:${port}/${number}`);
    const plain = await whileAsking(urls, measure);
    await as(cluster, (client) =>
      makePods(client, (number) => ({ host: '127.0.0.1', port, path: `/${number}` })),
    );
    const probes = await measure();
    await as(cluster, removePods);
    return { probes, plain };
  } finally {
    server.close();
  }
}

/** Uses a client of its own, since idle connections are closed. */
async function as<T>(cluster: Cluster, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = adminTransport(cluster.kubeconfig);
  try {
    return await work(createClient(transport));
  } finally {
    transport.close();
  }
}

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    await makeImages();
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) });
    const addresses = await as(cluster, (client) => makePods(client));
    const idle = await load(cluster.pid);
    const floor = await whileAsking(
      addresses.map((address) => `http://${address}:8080/`),
      load,
    );
    await as(cluster, removePods);
    await as(cluster, (client) => makePods(client, () => ({ port: 8080, path: '/' })));
    const probed = await load(cluster.pid);
    await as(cluster, removePods);
    const late = await measureLateness(cluster);
    return [
      { what: `${count} pods without probes: processor of up`, value: idle, unit: '%' },
      {
        what: `${count} pods with a readiness probe a second: additional processor of up`,
        value: probed - idle,
        unit: '%',
        floor: { what: 'the same requests from a plain program', value: floor },
        target: '< 5 of a core',
        met: probed - idle < 5,
      },
      {
        what: 'probes: delay, p99',
        value: late.probes,
        unit: 'ms',
        floor: { what: 'the same requests from a plain program', value: late.plain },
        target: '< 100',
        met: late.probes < 100,
      },
    ];
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

export const probes: Benchmark = { name: 'probes', run };
