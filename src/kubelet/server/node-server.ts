/** The agent's server and its metrics: access to it, and the source of each answer. */

import { X509Certificate } from 'node:crypto';
import { aborted } from '../../base/abort.ts';
import type { Current } from '../../base/current.ts';
import type { Family } from '../../base/metrics/exposition.ts';
import type { Threshold } from '../node/plan/eviction-thresholds.ts';
import type { ReservedResources } from '../node/plan/node-status.ts';
import type { ProbeCounts } from '../probes/probe-counts.ts';
import { defaultLogRotation, type LogRotation } from '../runtime/log-rotation.ts';
import type { UsageReader } from '../usage/usage-reader.ts';
import { Access, type AccessOptions } from './access.ts';
import type { ReportSources } from './node-reports.ts';
import { certificateMetrics } from './plan/certificate-metrics.ts';
import { configuration } from './plan/configuration.ts';
import { type KubeletServerOptions, type KubeletTls, serveKubelet } from './server.ts';
import { ServerCounts } from './server-counts.ts';
import type { StartRecords } from './start-records.ts';

/** Settings of the agent's server. */
export interface NodeServerSettings {
  readonly hosts: readonly string[];
  readonly port: number;
  readonly tls: KubeletTls;
}

export interface NodeServerParts
  extends AccessOptions,
    Omit<ReportSources, 'usage' | 'probed' | 'configuration' | 'pauseImage' | 'log'>,
    Pick<KubeletServerOptions, 'runtime' | 'nodeIP' | 'servedFiles'> {
  /** Absent: no server runs. */
  readonly server?: NodeServerSettings;
  readonly startRecords: StartRecords;
  readonly probeCounts: ProbeCounts;
  readonly usage: UsageReader;
  readonly knownPodCIDR: () => string | undefined;
  readonly pauseImage?: string;
  /** Client certificate of the agent, whose expiry is reported. */
  readonly identity?: Current<{ readonly certificate: string }>;
  readonly maxPods: number;
  readonly heartbeatMs: number;
  readonly evictionHard: readonly Threshold[];
  readonly systemReserved?: ReservedResources;
  readonly clusterDNS?: string;
  readonly clusterDomain?: string;
  readonly resolvConf?: string;
  readonly logRotation?: LogRotation;
  readonly podManifestPath?: string;
}

export class NodeServer {
  readonly #parts: NodeServerParts;
  readonly #requests: ServerCounts;

  constructor(parts: NodeServerParts) {
    this.#parts = parts;
    this.#requests = new ServerCounts(parts.clock);
  }

  /** Serves until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { server, usage, pauseImage = '', counted, probeCounts, startRecords } = this.#parts;
    if (!server) return aborted(signal);
    const reports = {
      ...this.#parts,
      pauseImage,
      usage: (oldestMs?: number) => usage.read(oldestMs),
      configuration: () => this.#configuration(server),
      counted: () => [
        ...startRecords.families(),
        ...counted(),
        ...this.#requests.families(),
        ...this.#certificates(server),
      ],
      probed: () => probeCounts.families(),
    };
    const access = new Access(this.#parts);
    await serveKubelet({ ...this.#parts, ...server, access, reports, counts: this.#requests }, signal);
  }

  #certificates({ tls }: NodeServerSettings): readonly Family[] {
    const endOf = (pair: { readonly certificate: string } | undefined) =>
      pair && new X509Certificate(pair.certificate).validToDate.getTime();
    const ends = { client: endOf(this.#parts.identity?.value), server: endOf(tls.identity.value) };
    return certificateMetrics(ends, this.#parts.clock.now());
  }

  #configuration({ port }: NodeServerSettings): object {
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
