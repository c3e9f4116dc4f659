/**
 * A node loses power: the time until its pods are ready on other nodes, step by step, on three hosts with the
 * built file. A step's time is the arrival of its event on a watch of the API.
 */
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { InformerFactory } from '../../../src/client/informer.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { MultiCluster } from '../../e2e/harness/multi-cluster.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { adminTransport } from '../admin-transport.ts';
import type { Benchmark, Row } from '../report.ts';

const replicas = 6;
/** The settings for fast detection in docs/decisions/0010-node-failure.md. */
const masterFlags = ['--node-monitor-grace-period=8s', '--default-unreachable-toleration-seconds=5'];
const nodeConfig = { 'heartbeat-interval': '2s' };

type Step = 'detected' | 'endpoints' | 'evicted' | 'scheduled' | 'ready';

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  const stop = new AbortController();
  try {
    const cluster = await MultiCluster.start(
      { after: (fn) => cleanups.push(fn) },
      { hosts: 3, nodes: [1, 2], masterFlags, nodeConfig },
    );
    const transport = adminTransport(cluster.kubeconfig);
    const client = createClient(transport);
    const random = { next: Math.random, uuid: () => crypto.randomUUID() };
    const informers = createInformerFactory({ client, clock: systemClock, random, log: silentLogger });
    const progress = watchProgress(informers, 'node-1');
    await informers.start(stop.signal);
    cleanups.unshift(async () => {
      stop.abort();
      await informers.stopped();
      transport.close();
    });
    await client.resource(deploymentResource).create(deployment() as never);
    await cluster.kubectl('expose', 'deployment', 'web', '--port=80');
    await waitFor('the pods', () => progress.settled(), { timeoutMs: 120_000 });
    progress.begin();
    const pulled = performance.now();
    await cluster.hosts.cut(cluster.node('node-1').host);
    await waitFor('the pods on other nodes', () => progress.at.has('ready'), {
      timeoutMs: 120_000,
      intervalMs: 10,
    });
    return rows((step) => ((progress.at.get(step) ?? Number.NaN) - pulled) / 1000);
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

function deployment() {
  const labels = { app: 'web' };
  const container = { name: 'web', image: 'minik8s/hello:1', imagePullPolicy: 'IfNotPresent' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ ...container, ports: [{ containerPort: 80 }] }] },
      },
    },
  };
}

/** Records the times since `begin` at which each condition became true for the first time. */
function watchProgress(informers: InformerFactory, dead: string) {
  const nodes = informers.informerFor(nodeResource);
  const pods = informers.informerFor(podResource, { namespace: 'default' });
  const slices = informers.informerFor(endpointSliceResource, { namespace: 'default' });
  const at = new Map<Step, number>();
  let begun = false;
  const all = () => pods.lister.list();
  const onDead = () => all().filter(({ spec }) => spec.nodeName === dead);
  const elsewhere = () => all().filter(({ spec }) => spec.nodeName && spec.nodeName !== dead);
  const endpoints = () =>
    slices.lister
      .list()
      .filter(({ metadata }) => metadata.name !== 'kubernetes')
      .flatMap((slice) => slice.endpoints.filter(({ conditions }) => conditions?.ready));
  const steps: Record<Step, () => boolean> = {
    detected: () =>
      nodes.lister.get(dead)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown',
    endpoints: () => endpoints().every(({ nodeName }) => nodeName !== dead),
    evicted: () => onDead().every(({ metadata }) => metadata.deletionTimestamp),
    scheduled: () => elsewhere().length >= replicas,
    ready: () => elsewhere().filter(podReady).length >= replicas,
  };
  const look = () => {
    for (const [step, holds] of Object.entries(steps) as [Step, () => boolean][])
      if (begun && !at.has(step) && holds()) at.set(step, performance.now());
  };
  for (const informer of [nodes, pods, slices])
    informer.addEventHandler({ onAdd: look, onUpdate: look, onDelete: look });
  const ready = (list: readonly Pod[]) => list.filter(podReady).length;
  return {
    at,
    begin: () => {
      begun = true;
    },
    settled: () => ready(all()) === replicas && onDead().length > 0 && endpoints().length === replicas,
  };
}

function rows(since: (step: Step) => number): readonly Row[] {
  const part = (what: string, value: number): Row => ({ what: `dead node: ${what}`, value, unit: 's' });
  return [
    part('detect (plug pulled → Ready=Unknown)', since('detected')),
    part('… its endpoints out of Services', since('endpoints')),
    part('evict (Unknown → its pods deleted)', since('evicted') - since('detected')),
    part('schedule (deleted → others bound)', since('scheduled') - since('evicted')),
    part('start (bound → all ready)', since('ready') - since('scheduled')),
    {
      ...part('plug pulled → all pods ready elsewhere', since('ready')),
      floor: { what: 'the grace period of 8 s and the toleration of 5 s', value: 13 },
      target: '< 30',
      met: since('ready') < 30,
    },
  ];
}

export const deadNode: Benchmark = { name: 'dead-node', run };
