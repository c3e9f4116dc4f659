/** A restart of `up` with 100 pods: the time without the API, and requests to a Service meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { Cluster } from '../../e2e/harness/cluster.ts';
import { Host } from '../../e2e/harness/host.ts';
import { helloImage } from '../../e2e/harness/images.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { adminTransport } from '../admin-transport.ts';
import { untilPods } from '../pods-wait.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';
import { usageOf } from '../usage.ts';
import { startRequests } from './requests.ts';

const pods = 100;
const rounds = 3;
const app = 'restarted';
const clusterIP = '10.96.0.91';

async function deploy(cluster: Cluster): Promise<void> {
  const client = createClient(adminTransport(cluster.kubeconfig));
  const labels = { app };
  await client.resource(serviceResource).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app, namespace: 'default' },
    spec: { clusterIP, selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  } as never);
  const ready = untilPods(client, app, pods);
  const container = { name: 'hello', image: helloImage, imagePullPolicy: 'IfNotPresent' };
  await client.resource(deploymentResource).create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace: 'default' },
    spec: {
      replicas: pods,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container], terminationGracePeriodSeconds: 0 } },
    },
  } as never);
  await ready;
}

interface RestartTimes {
  /** Milliseconds from SIGTERM to the first answer of the API. */
  readonly outage: number;
  /** Milliseconds from SIGTERM to the end of the process. */
  readonly stop: number;
  /** Milliseconds from the new start to the first answer. */
  readonly start: number;
  /** Milliseconds of processor time of the old process after SIGTERM, and of the new one until the answer. */
  readonly processor: number;
}

async function restartOnce(cluster: Cluster): Promise<RestartTimes> {
  const spent = processorTime(cluster.pid);
  const since = performance.now();
  await cluster.end('SIGTERM');
  const started = performance.now();
  const up = cluster.up();
  up.catch(() => undefined);
  const { pid } = cluster;
  await waitFor('the API', () => answers(cluster), { intervalMs: 10, timeoutMs: 60_000 });
  const at = performance.now();
  const processor = spent() + usageOf(pid).cpu * 1000;
  await up;
  return { outage: at - since, stop: started - since, start: at - started, processor };
}

/** Returns a function that returns the processor time since now of a process that may have ended, in ms. */
function processorTime(pid: number): () => number {
  const { cpu } = usageOf(pid);
  let last = cpu;
  const looking = setInterval(() => {
    try {
      last = usageOf(pid).cpu;
    } catch {
      clearInterval(looking);
    }
  }, 20);
  return () => {
    clearInterval(looking);
    return (last - cpu) * 1000;
  };
}

/** A node that has synced all its pods uses less than this share of a processor. */
const calm = 0.25;

/** Waits until the node has synced its pods again, as a node has long before a usual restart. */
async function untilCalm({ pid }: Cluster): Promise<void> {
  await waitFor('a calm node', async () => {
    const { cpu } = usageOf(pid);
    await pause(2_000);
    return usageOf(pid).cpu - cpu < 2 * calm;
  });
}

async function answers(cluster: Cluster): Promise<boolean> {
  try {
    const request = createClient(adminTransport(cluster.kubeconfig)).resource(serviceResource);
    return (await request.get(app, 'default')) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the milliseconds until a container that was stopped serves again: the engine's own restart. */
async function dockerRestart(host: Host): Promise<number> {
  const id = await host.docker('run', '--detach', '--publish', '9999:8080', helloImage);
  const [took = Number.NaN] = await timed(1, async () => {
    await host.docker('restart', '--time', '0', id);
    await waitFor('the container', () => host.page('127.0.0.1:9999').then(Boolean, () => false), {
      intervalMs: 10,
    });
  });
  await host.docker('rm', '--force', id);
  return took;
}

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const host = await Host.start({ after: (fn) => cleanups.push(fn) });
    const engine = await dockerRestart(host);
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) }, { host });
    await deploy(cluster);
    const requests = startRequests(host, `http://${clusterIP}/`);
    const times: RestartTimes[] = [];
    for (let round = 0; round < rounds; round++) {
      await untilCalm(cluster);
      times.push(await restartOnce(cluster));
    }
    const { sent, failed } = await requests.end();
    const outage = median(times.map((each) => each.outage));
    const part = (name: keyof RestartTimes) => median(times.map((each) => each[name]));
    const floor = { what: 'docker restart of one container', value: engine };
    const met = outage < 2000;
    return [
      {
        what: `restart with ${pods} pods: SIGTERM → API answers`,
        value: outage,
        unit: 'ms',
        floor,
        target: '< 2000',
        met,
      },
      { what: 'restart: SIGTERM → end of the process', value: part('stop'), unit: 'ms' },
      { what: 'restart: start of the process → API answers', value: part('start'), unit: 'ms' },
      {
        what: 'restart: processor time of both processes until the API answers',
        value: part('processor'),
        unit: 'ms',
      },
      {
        what: `failed requests to a Service over ${rounds} restarts, of ${sent}`,
        value: failed,
        unit: '',
        target: '0',
        met: failed === 0 && sent > 0,
      },
    ];
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

export const restart: Benchmark = { name: 'restart', run };
