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

/** `minik8s up` for one node, a master with nodes that join it for more; every node has the images. */
export async function startCluster(
  cleanup: Cleanup,
  nodes: number,
  images: readonly string[],
): Promise<SuiteCluster> {
  if (nodes > 1) {
    const cluster = await MultiCluster.start(cleanup, { hosts: nodes, images });
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
  const cluster = await Cluster.start(cleanup, { host });
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
