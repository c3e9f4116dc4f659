/** The agent's server and its metrics: access to it, and the source of each answer. */

import { X509Certificate } from 'node:crypto';
import type { Pod } from '../api/core/v1/pod.ts';
import type { PodStatus } from '../api/core/v1/types.gen.ts';
import { aborted } from '../base/abort.ts';
import type { Family } from '../base/exposition.ts';
import type { PullState } from './images/plan/pull-state.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import type { NodeUsage, Threshold } from './node/plan/eviction-thresholds.ts';
import type { ProbeCounts } from './probes/probe-counts.ts';
import { defaultLogRotation } from './runtime/log-rotation.ts';
import type { ObservedPod } from './runtime/observed-pod.ts';
import { Access } from './server/access.ts';
import { certificateMetrics } from './server/plan/certificate-metrics.ts';
import { configuration } from './server/plan/configuration.ts';
import type { Period } from './server/plan/start-time.ts';
import { PodStarts } from './server/pod-starts.ts';
import { serveKubelet } from './server/server.ts';
import { ServerCounts } from './server/server-counts.ts';
import type { UsageReader } from './usage/usage-reader.ts';

export interface NodeServerParts extends KubeletOptions {
  /** Returns metrics of other parts of the agent, for /metrics. */
  readonly counted: () => readonly Family[];
  readonly probeCounts: ProbeCounts;
  readonly pulls: () => readonly PullState[];
  readonly usage: UsageReader;
  readonly nodeUsage: () => Promise<NodeUsage>;
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  /** Returns the uids of all pods that have containers here, including pods that are not known any more. */
  readonly podsHere: () => ReadonlySet<string>;
  readonly knownPodCIDR: () => string | undefined;
  readonly maxPods: number;
  readonly heartbeatMs: number;
  readonly evictionHard: readonly Threshold[];
}

/** Minimum of start records before those of gone pods are removed. */
const atLeastKept = 256;

export class NodeServer {
  readonly #parts: NodeServerParts;
  readonly #starts: PodStarts;
  readonly #requests: ServerCounts;

  constructor(parts: NodeServerParts) {
    this.#parts = parts;
    this.#starts = new PodStarts(parts.clock);
    this.#requests = new ServerCounts(parts.clock);
  }

  /** Records a status; must be called each time that one is computed. */
  observeStatus(pod: Pod, status: PodStatus): void {
    this.#starts.observe(pod, status);
    const pods = this.#parts.pods();
    if (this.#starts.size > 2 * pods.length + atLeastKept) this.#forgetOthers(pods);
  }

  pulled(uid: string, period: Period): void {
    this.#starts.pulled(uid, period);
  }

  #forgetOthers(pods: readonly Pod[]): void {
    this.#starts.keep(new Set(pods.map(({ metadata }) => metadata.uid)));
  }

  /** Serves until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { server, pods, usage, nodeUsage, pauseImage = '', counted, probeCounts } = this.#parts;
    if (!server) return aborted(signal);
    const reports = {
      ...this.#parts,
      pauseImage,
      usage: (oldestMs?: number) => usage.read(oldestMs),
      nodeUsage,
      configuration: () => this.#configuration(server),
      counted: () => {
        this.#forgetOthers(pods());
        return [
          ...this.#starts.families(),
          ...counted(),
          ...this.#requests.families(),
          ...this.#certificates(server),
        ];
      },
      probed: () => probeCounts.families(),
    };
    const access = new Access(this.#parts);
    await serveKubelet({ ...this.#parts, ...server, access, reports, counts: this.#requests }, signal);
  }

  #certificates({ tls }: NonNullable<KubeletOptions['server']>): readonly Family[] {
    const endOf = (pair: { readonly certificate: string } | undefined) =>
      pair && new X509Certificate(pair.certificate).validToDate.getTime();
    const ends = { client: endOf(this.#parts.identity?.value), server: endOf(tls.identity.value) };
    return certificateMetrics(ends, this.#parts.clock.now());
  }

  #configuration({ port }: NonNullable<KubeletOptions['server']>): object {
    const { nodeIP: address, maxPods, heartbeatMs, evictionHard, clusterDNS, knownPodCIDR } = this.#parts;
    const {
      systemReserved = {},
      clusterDomain = 'cluster.local',
      resolvConf = '/etc/resolv.conf',
      logRotation = defaultLogRotation,
    } = this.#parts;
    return configuration({
      ...{ address, port, maxPods, heartbeatMs, evictionHard, systemReserved, clusterDNS, logRotation },
      ...{ clusterDomain, resolvConf, podCIDR: knownPodCIDR(), staticPodPath: this.#parts.podManifestPath },
    });
  }
}
