/**
 * The cluster that the suite runs against, on hosts of its own (test/e2e/harness/host.ts). They have nothing
 * of this machine's network or engine, so that nobody waits for it and it for nobody.
 */
import { type Cleanup, Cluster } from '../e2e/harness/cluster.ts';
import { Host } from '../e2e/harness/host.ts';
import { MultiCluster } from '../e2e/harness/multi-cluster.ts';

export interface SuiteCluster {
  readonly kubeconfig: string;
  /**
   * A program and its arguments, as they are started here to run where the cluster's pods and Services are
   * reached.
   */
  command(program: string, args: readonly string[]): [string, string[]];
  /** Output of the control plane so far. */
  log(): string;
  readonly running: boolean;
}

export interface SuiteClusterOptions {
  readonly nodes: number;
  /** Images that every node has. */
  readonly images: readonly string[];
  /** True for ranges of IPv4 and IPv6, and addresses of both families. */
  readonly dualStack: boolean;
}

const ranges = {
  'cluster-cidr': '10.244.0.0/16,fd00:10:244::/56',
  'service-cidr': '10.96.0.0/16,fd00:10:96::/112',
};
const rangeFlags = Object.entries(ranges).map(([name, value]) => `--${name}=${value}`);

const addIPv6 = (host: Host, number: number) =>
  host.run('ip', 'address', 'add', `2001:db8:1::${number + 1}/64`, 'dev', 'eth0', 'nodad');

/** Starts `minik8s up` for one node, or a master with nodes that join it. */
export async function startCluster(
  cleanup: Cleanup,
  { nodes, images, dualStack }: SuiteClusterOptions,
): Promise<SuiteCluster> {
  if (nodes > 1) {
    const dual = { nodes: [], masterFlags: rangeFlags, nodeConfig: ranges };
    const cluster = await MultiCluster.start(cleanup, { hosts: nodes, images, ...(dualStack && dual) });
    if (dualStack)
      for (const [number, host] of cluster.hosts.all.entries()) {
        await addIPv6(host, number);
        await cluster.join(number);
      }
    return {
      kubeconfig: cluster.kubeconfig,
      command: (program, args) => cluster.hosts.at(0).command(program, args),
      log: () => cluster.master.log,
      get running() {
        return cluster.master.running;
      },
    };
  }
  const host = await Host.start(cleanup, { images });
  if (dualStack) await addIPv6(host, 0);
  const cluster = await Cluster.start(cleanup, { host, ...(dualStack && { flags: rangeFlags }) });
  return {
    kubeconfig: cluster.kubeconfig,
    command: (program, args) => host.command(program, args),
    log: () => cluster.log,
    get running() {
      return cluster.running;
    },
  };
}

/** One that is there already, reached from this machine. */
export const givenCluster = (kubeconfig: string): SuiteCluster => ({
  kubeconfig,
  command: (program, args) => [program, [...args]],
  log: () => '',
  running: true,
});
