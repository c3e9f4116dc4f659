/**
 * A new pod of a Service: the time until every machine's proxy routes to it. Measured from the write that
 * makes the pod an endpoint, through the controller and each node's watch, to a connection that the pod
 * answers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { V1PodList } from '@kubernetes/client-node';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../../src/client/client.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { type ClusterNode, MultiCluster } from '../../e2e/harness/multi-cluster.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { adminTransport } from '../admin-transport.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';

const rounds = 100;
const clusterIP = '10.96.0.90';

/**
 * Connects on request until a connection is answered, or until one is refused, and prints the result. A
 * connection without an answer counts as neither: busybox's server leaves connections unanswered when it
 * receives many at once.
 */
const probeProgram = `
  const { connect } = require('node:net');
  const { createInterface } = require('node:readline');
  const attempt = () => new Promise((resolve) => {
    const socket = connect(80, '${clusterIP}');
    const end = (result) => { socket.destroy(); resolve(result); };
    socket.setTimeout(100, () => end('silence'));
    socket.on('connect', () => end('served')).on('error', () => end('refused'));
  });
  createInterface({ input: process.stdin }).on('line', async (wanted) => {
    while ((await attempt()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(wanted);
  }).on('close', () => process.exit());
`;

class Probe {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor({ host }: ClusterNode) {
    const [file, args] = host.command(process.execPath, ['-e', probeProgram]);
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Resolves when the Service is served from this machine, or is no longer served. */
  async until(wanted: 'served' | 'refused'): Promise<void> {
    this.#child.stdin?.write(`${wanted}\n`);
    const { value } = await this.#lines.next();
    if (value !== wanted) throw new Error(`the probe ended with ${value}`);
  }

  end(): void {
    this.#child.kill();
  }
}

const labels = { app: 'endpoint' };

/** Creates a Service for pods that have its label, and one pod per node that does not have the label yet. */
async function deploy(cluster: MultiCluster): Promise<readonly string[]> {
  const pods = cluster.nodes.map(({ name }) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `endpoint-${name}`, labels },
    spec: {
      nodeName: name,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'hello', image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent' }],
    },
  }));
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'endpoint' },
    spec: { clusterIP, selector: { ...labels, in: 'yes' }, ports: [{ port: 80, targetPort: 8080 }] },
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [...pods, service] };
  await cluster.kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(list) });
  await waitFor('the pods', async () => {
    const { items } = await cluster.kubectl.json<V1PodList>('get', 'pods', '-l', 'app=endpoint');
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    );
    return ready.length === pods.length;
  });
  return pods.map(({ metadata }) => metadata.name);
}

async function measure(
  client: Client,
  pods: readonly string[],
  probes: readonly Probe[],
): Promise<readonly Row[]> {
  const label = (name: string, value: 'yes' | null) =>
    client.resource(podResource).patch(name, 'default', 'merge', { metadata: { labels: { in: value } } });
  const write = await timed(rounds, (round) => label(pods[round % pods.length] ?? '', null));
  const added: number[] = [];
  const removed: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const pod = pods[round % pods.length] ?? '';
    const change = async (value: 'yes' | null, wanted: 'served' | 'refused', times: number[]) => {
      const start = performance.now();
      const seen = probes.map(async (probe) => {
        await probe.until(wanted);
        times.push(performance.now() - start);
      });
      await Promise.all([label(pod, value), ...seen]);
    };
    await change('yes', 'served', added);
    await change(null, 'refused', removed);
  }
  const floor = { what: 'the write alone', value: median(write) };
  const p99 = quantile(added, 0.99);
  return [
    { what: 'a new endpoint is used by a node, p50', value: median(added), unit: 'ms', floor },
    {
      what: 'a new endpoint is used by a node, p99',
      value: p99,
      unit: 'ms',
      target: '< 1000',
      met: p99 < 1000,
    },
    {
      what: 'a removed endpoint is no longer used by a node, p99',
      value: quantile(removed, 0.99),
      unit: 'ms',
    },
  ];
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
}

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => unknown)[] = [];
  try {
    const cluster = await MultiCluster.start({ after: (fn) => cleanups.push(fn) });
    const transport = adminTransport(cluster.kubeconfig);
    cleanups.push(() => transport.close());
    const pods = await deploy(cluster);
    const probes = cluster.nodes.map((node) => new Probe(node));
    for (const probe of probes) cleanups.push(() => probe.end());
    return await measure(createClient(transport), pods, probes);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

export const endpoints: Benchmark = { name: 'endpoints', run };
