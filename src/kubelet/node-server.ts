/** The agent's server, and what it counts for it: who may ask, and where each answer comes from. */
import type { Pod } from '../api/core/v1/pod.ts';
import type { PodStatus } from '../api/core/v1/types.gen.ts';
import { aborted } from '../base/abort.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import type { NodeUsage, Threshold } from './node/plan/eviction-thresholds.ts';
import type { PodCounts } from './pods/pod-counts.ts';
import type { ProbeCounts } from './probes/probe-counts.ts';
import type { RuntimeOperations } from './runtime/measured-runtime.ts';
import type { ObservedPod } from './runtime/observed-pod.ts';
import { Access } from './server/access.ts';
import { configuration } from './server/plan/configuration.ts';
import { PodStarts } from './server/pod-starts.ts';
import { serveKubelet } from './server/server.ts';
import type { UsageReader } from './usage/usage-reader.ts';

export interface NodeServerParts extends KubeletOptions {
  readonly operations: RuntimeOperations;
  readonly counts: PodCounts;
  readonly probeCounts: ProbeCounts;
  readonly usage: UsageReader;
  readonly nodeUsage: () => Promise<NodeUsage>;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  /** The uids of all that something runs of, also of those that are not known any more. */
  readonly podsHere: () => ReadonlySet<string>;
  readonly knownPodCIDR: () => string | undefined;
  readonly maxPods: number;
  readonly heartbeatMs: number;
  readonly evictionHard: readonly Threshold[];
}

/** Pods that have gone are forgotten now and then. */
const atLeastKept = 256;

export class NodeServer {
  readonly #parts: NodeServerParts;
  readonly #starts: PodStarts;

  constructor(parts: NodeServerParts) {
    this.#parts = parts;
    this.#starts = new PodStarts(parts.clock);
  }

  /** To be told of each status that is computed. */
  observeStatus(pod: Pod, status: PodStatus): void {
    this.#starts.observe(pod, status);
    const pods = this.#parts.pods();
    if (this.#starts.size > 2 * pods.length + atLeastKept) this.#forgetOthers(pods);
  }

  #forgetOthers(pods: readonly Pod[]): void {
    this.#starts.keep(new Set(pods.map(({ metadata }) => metadata.uid)));
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { server, pods, operations, usage, nodeUsage, pauseImage = '', counts, probeCounts } = this.#parts;
    if (!server) return aborted(signal);
    const reports = {
      ...this.#parts,
      pauseImage,
      usage: () => usage.read(),
      nodeUsage,
      configuration: () => this.#configuration(server),
      counted: () => {
        this.#forgetOthers(pods());
        return [...this.#starts.families(), ...counts.families(), ...operations.families()];
      },
      probed: () => probeCounts.families(),
    };
    await serveKubelet({ ...this.#parts, ...server, access: new Access(this.#parts), reports }, signal);
  }

  #configuration({ host: address, port }: NonNullable<KubeletOptions['server']>): object {
    const { maxPods, heartbeatMs, evictionHard, clusterDNS, knownPodCIDR } = this.#parts;
    const {
      systemReserved = {},
      clusterDomain = 'cluster.local',
      resolvConf = '/etc/resolv.conf',
    } = this.#parts;
    return configuration({
      ...{ address, port, maxPods, heartbeatMs, evictionHard, systemReserved, clusterDNS },
      ...{ clusterDomain, resolvConf, podCIDR: knownPodCIDR(), staticPodPath: this.#parts.podManifestPath },
    });
  }
}
