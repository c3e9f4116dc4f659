/**
 * Throughput from a pod to a pod on another machine, beside the throughput of the link between the machines.
 */
import type { ChildProcess } from 'node:child_process';
import type { V1Pod } from '@kubernetes/client-node';
import { systemExec } from '../../../src/os/exec.ts';
import { end } from '../../e2e/harness/host.ts';
import { type ClusterNode, MultiCluster } from '../../e2e/harness/multi-cluster.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const rounds = 5;
const seconds = 3;

/** A sender or receiver: a host, or a pod on it. */
interface Place {
  readonly node: ClusterNode;
  readonly ip: string;
  /** Returns the command line that runs a program on the host or in the pod. */
  command(program: string, args: readonly string[]): [string, string[]];
}

const hostPlace = (node: ClusterNode): Place => ({
  node,
  ip: node.host.address,
  command: (program, args) => [program, [...args]],
});

async function podPlace(cluster: MultiCluster, node: ClusterNode): Promise<Place> {
  const name = `iperf-${node.name}`;
  const command = ['sh', '-c', 'sleep 100000'];
  const container = { name: 'main', image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent', command };
  const spec = { nodeName: node.name, containers: [container], terminationGracePeriodSeconds: 0 };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
  await cluster.kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(pod) });
  const ip = await waitFor(`pod ${name}`, async () => {
    const { status } = await cluster.kubectl.json<V1Pod>('get', 'pod', name);
    return status?.phase === 'Running' && status.podIP;
  });
  const filter = ['--filter', `label=io.kubernetes.pod.name=${name}`];
  const [id = ''] = (await node.host.docker('ps', '-q', ...filter)).split('\n');
  const pid = await node.host.docker('inspect', '-f', '{{.State.Pid}}', id);
  const namespace = `--net=/proc/${pid}/ns/net`;
  return { node, ip, command: (program, args) => ['nsenter', [namespace, program, ...args]] };
}

/** Returns the throughput in gigabits per second over one connection. */
async function throughput(from: Place, to: Place): Promise<number> {
  const server = to.node.host.spawn(...to.command('iperf3', ['-s', '-1', '-B', to.ip]));
  try {
    return await waitFor('a run of iperf3', () => sendTo(from, to));
  } finally {
    await endServer(server);
  }
}

async function sendTo(from: Place, to: Place): Promise<number> {
  const args = ['-c', to.ip, '-t', String(seconds), '-O', '1', '-J'];
  const [file, all] = from.node.host.command(...from.command('iperf3', args));
  const { stdout } = await systemExec(file, all, { timeoutMs: 30_000 });
  const { end: result } = JSON.parse(stdout) as { end: { sum_received: { bits_per_second: number } } };
  return result.sum_received.bits_per_second / 1e9;
}

/** The server is killed: it exits by itself after it has served, and otherwise waits forever. */
const endServer = (server: ChildProcess) => end(server, 'SIGKILL');

async function measure(overlay: 'vxlan' | 'host-routes'): Promise<Row> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const cluster = await MultiCluster.start(
      { after: (fn) => closers.push(fn) },
      { hosts: 2, nodeConfig: { overlay } },
    );
    const [first, second] = cluster.nodes;
    if (!first || !second) throw new Error('two nodes were to join');
    const hosts = [hostPlace(first), hostPlace(second)] as const;
    const pods = [await podPlace(cluster, first), await podPlace(cluster, second)] as const;
    const bare: number[] = [];
    const wrapped: number[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await throughput(...hosts));
      wrapped.push(await throughput(...pods));
    }
    const [value, floor] = [median(wrapped), median(bare)];
    return {
      what: `pod to pod of another machine, ${overlay}`,
      value,
      unit: 'Gbit/s',
      floor: { what: 'between the machines, without pods', value: floor },
      target: '> 70 % of floor',
      met: value > 0.7 * floor,
    };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

export const overlay: Benchmark = {
  name: 'overlay',
  run: async () => [await measure('vxlan'), await measure('host-routes')],
};
