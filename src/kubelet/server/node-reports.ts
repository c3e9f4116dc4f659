/**
 * Reports of the agent's server, in addition to logs and streams: its pods, its configuration, and their
 * usage.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { exposition, expositionType, type Family } from '../../base/metrics/exposition.ts';
import type { PullState } from '../images/plan/pull-state.ts';
import type { NodeUsage } from '../node/plan/eviction-thresholds.ts';
import type { NodeFacts } from '../node/plan/node-status.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { UsageSnapshot } from '../usage/snapshot.ts';
import { everyMs } from '../usage/usage-reader.ts';
import { readOwnProcess } from './own-process.ts';
import { agentMetrics } from './plan/agent-metrics.ts';
import { cadvisorMetrics } from './plan/cadvisor-metrics.ts';
import { RequestError } from './plan/log-request.ts';
import { processMetrics } from './plan/process-metrics.ts';
import { resourceMetrics } from './plan/resource-metrics.ts';
import { summary } from './plan/summary.ts';

export interface ReportSources {
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  /** Returns the usage, at most `oldestMs` milliseconds old; the default is close to 0. */
  readonly usage: (oldestMs?: number) => Promise<UsageSnapshot>;
  readonly nodeUsage: () => Promise<NodeUsage>;
  /** Returns metrics of other parts of the agent, for /metrics. */
  readonly counted: () => readonly Family[];
  /** Returns metrics of probes, for /metrics/probes. */
  readonly probed: () => readonly Family[];
  /** Metrics of other parts of this node, by the last part of the path: /metrics/NAME. */
  readonly pages?: Readonly<Record<string, () => readonly Family[]>>;
  /** Examines this node and its ways to the other nodes, for `minik8s doctor`; absent: not offered. */
  readonly doctor?: () => Promise<object>;
  /** Reads the connections per second to the endpoints of Services; absent: not offered. */
  readonly serviceConnections?: () => Promise<object>;
  /** Returns the image pulls in progress. */
  readonly pulls: () => readonly PullState[];
  /** Returns the uids of all pods that have containers here. */
  readonly podsHere: () => ReadonlySet<string>;
  /** Returns the agent's settings, in the form of a KubeletConfiguration. */
  readonly configuration: () => object;
  readonly nodeName: string;
  readonly facts: NodeFacts;
  readonly pauseImage: string;
  readonly log: Logger;
}

export interface Report {
  readonly type: string;
  readonly body: string;
}

type Maker = (sources: ReportSources, url: URL) => Promise<Report> | Report;

const json = (value: object): Report => ({ type: 'application/json', body: JSON.stringify(value) });
const metrics = (families: readonly Family[]): Report => ({
  type: expositionType,
  body: exposition(families),
});

const reports: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['/healthz', () => ({ type: 'text/plain; charset=utf-8', body: 'ok' })],
  ['/pods', ({ pods }) => podList(pods())],
  [
    '/runningpods',
    ({ podsHere, observe }) =>
      json({ ...emptyList, items: [...podsHere()].flatMap((uid) => running(observe(uid))) }),
  ],
  // Shown to users who wait for a pod; upstream has no such endpoint.
  ['/pulls', ({ pulls }) => json({ pulls: pulls() })],
  // Upstream has no such endpoint. Only callers with the right to all of nodes/proxy may read it.
  ['/doctor', examine],
  ['/metrics/probes', ({ probed }) => metrics(probed())],
  // Files in the machine's /var/log are not accessible to users who may read logs of pods.
  [
    '/logs',
    () => {
      throw new RequestError(405, 'logs endpoint is disabled.');
    },
  ],
  ['/configz', ({ configuration }) => json({ kubeletconfig: configuration() })],
  ['/stats/summary', statsSummary],
  // Upstream has no such endpoint.
  ['/stats/services', statsServices],
  ['/metrics', ofAgent],
  ['/metrics/resource', async (sources) => metrics(resourceMetrics(await readUsage(sources)))],
  [
    '/metrics/cadvisor',
    async (sources) => {
      const { facts, pauseImage } = sources;
      return metrics(cadvisorMetrics({ snapshot: await readUsage(sources), facts, pauseImage }));
    },
  ],
]);

/** Returns undefined for a path without a report. A slash at the path's end is ignored. */
export async function reportFor(sources: ReportSources, url: URL): Promise<Report | undefined> {
  const path = url.pathname.replace(/(.)\/$/, '$1');
  const page = pageOf(sources, path);
  if (page) return metrics([...page(), ...processMetrics(await readOwnProcess())]);
  return reports.get(path.startsWith('/logs/') ? '/logs' : path)?.(sources, url);
}

function pageOf({ pages = {} }: ReportSources, path: string): (() => readonly Family[]) | undefined {
  const [, name = ''] = /^\/metrics\/([a-z]+)$/.exec(path) ?? [];
  return Object.hasOwn(pages, name) ? pages[name] : undefined;
}

const emptyList = { kind: 'PodList', apiVersion: 'v1', metadata: {} };

/** Returns the running containers of the pod, from the engine, with their images. */
function running({ containers }: ObservedPod): readonly object[] {
  const those = containers.filter(({ state }) => state === 'running');
  const [first] = those;
  if (!first) return [];
  const { name, namespace, uid } = first.pod;
  return [
    {
      metadata: { name, namespace, uid, creationTimestamp: null },
      spec: { containers: those.map((one) => ({ name: one.name, image: one.image, resources: {} })) },
      status: {},
    },
  ];
}

const podList = (items: readonly Pod[]): Report =>
  json({
    ...emptyList,
    items: items.map((pod) => ({ ...pod, apiVersion: 'v1', kind: 'Pod' })),
  });

async function examine({ doctor }: ReportSources): Promise<Report> {
  if (!doctor) throw new RequestError(404, 'page not found');
  return json(await doctor());
}

async function statsSummary(sources: ReportSources, { searchParams }: URL): Promise<Report> {
  const { nodeName, usage, nodeUsage } = sources;
  const [snapshot, node] = await Promise.all([usage(), nodeUsage()]);
  const onlyCpuAndMemory = ['true', '1'].includes(searchParams.get('only_cpu_and_memory') ?? '');
  return json(summary({ nodeName, snapshot, node, onlyCpuAndMemory }));
}

async function statsServices({ serviceConnections }: ReportSources): Promise<Report> {
  if (!serviceConnections) throw new RequestError(404, 'page not found');
  return json(await serviceConnections());
}

async function ofAgent(sources: ReportSources): Promise<Report> {
  const { nodeName, facts, pods, observe, counted } = sources;
  const [snapshot, process] = await Promise.all([readUsage(sources), readOwnProcess()]);
  const observed = pods().map(({ metadata }) => observe(metadata.uid));
  const input = {
    nodeName,
    version: facts.kubeletVersion,
    observed,
    snapshot,
    process,
    counted: counted(),
  };
  return metrics(agentMetrics(input));
}

/**
 * Reads the usage for metrics, which have their time of measurement: it is read at most once per interval, so
 * that several pages and several clients cost no more. Undefined when it cannot be read, which is logged; the
 * response then reports the failure.
 */
async function readUsage({ usage, log }: ReportSources): Promise<UsageSnapshot | undefined> {
  try {
    return await usage(everyMs);
  } catch (error) {
    log.warn('cannot read what pods use', { error: errorMessage(error) });
    return undefined;
  }
}
