/** Pods on the built file and real Docker, beside the bare Docker API and beside Swarm on the same engine. */

import { deploymentResource } from '../../src/api/apps/v1/deployment.ts';
import { type Pod, podResource } from '../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/rest-client.ts';
import { Cluster } from '../e2e/harness/cluster.ts';
import { helloImage as image, makeImages } from '../e2e/harness/images.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { adminTransport } from './admin-transport.ts';
import { dockerApi, removeContainers, runPair } from './docker-api.ts';
import { untilNoContainers, untilPods } from './pods-wait.ts';
import { type Benchmark, median, type Row, timed } from './report.ts';

const single = 15;
const replicas = 30;
const rounds = 3;

const container = { name: 'hello', image, imagePullPolicy: 'IfNotPresent' } as const;

async function onePod(client: Client): Promise<number[]> {
  const pods = client.resource(podResource);
  const times: number[] = [];
  for (let n = 0; n < single; n++) {
    const name = `one-${n}`;
    const watching = untilPods(client, name, 1);
    const start = performance.now();
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: { containers: [container], terminationGracePeriodSeconds: 0 } as unknown as Pod['spec'],
    });
    await watching;
    times.push(performance.now() - start);
    await pods.delete(name, 'default', { gracePeriodSeconds: 0 });
    await untilPods(client, name, 0);
    await untilNoContainers(name);
  }
  return times;
}

async function deployment(client: Client, round: number): Promise<number> {
  const app = `many-${round}`;
  const start = performance.now();
  const watching = untilPods(client, app, replicas);
  await client.resource(deploymentResource).create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app } },
        spec: { containers: [container], terminationGracePeriodSeconds: 0 },
      },
    } as never,
  });
  await watching;
  const took = performance.now() - start;
  await client.resource(deploymentResource).delete(app, 'default');
  await untilPods(client, app, 0);
  await untilNoContainers(app);
  return took;
}

interface Task {
  readonly Status: { readonly State: string };
}

/**
 * Each service has a swarm of its own: a second service in one swarm sometimes never gets all its tasks
 * running.
 */
async function swarm(): Promise<number> {
  await dockerApi('POST', '/swarm/init', { ListenAddr: '127.0.0.1:2377', AdvertiseAddr: '127.0.0.1' });
  try {
    const start = performance.now();
    const { ID } = await dockerApi<{ ID: string }>('POST', '/services/create', {
      Name: 'minik8s-bench',
      TaskTemplate: { ContainerSpec: { Image: image, Init: false } },
      Mode: { Replicated: { Replicas: replicas } },
    });
    const running = async () => {
      const tasks = await dockerApi<readonly Task[]>('GET', '/tasks');
      return tasks.filter(({ Status }) => Status.State === 'running').length >= replicas;
    };
    await waitFor('the Swarm service', running, { timeoutMs: 120_000, intervalMs: 50 });
    const took = performance.now() - start;
    await dockerApi('DELETE', `/services/${ID}`);
    return took;
  } finally {
    await dockerApi('POST', '/swarm/leave?force=true');
    const label = encodeURIComponent(
      JSON.stringify({ label: ['com.docker.swarm.service.name=minik8s-bench'] }),
    );
    const gone = async () =>
      (await dockerApi<unknown[]>('GET', `/containers/json?all=1&filters=${label}`)).length === 0;
    await waitFor('the removal of the Swarm service', gone, { timeoutMs: 120_000, intervalMs: 200 });
  }
}

async function bare(): Promise<number[]> {
  const made: (readonly string[])[] = [];
  const times = await timed(single, async () => {
    made.push(await runPair(image));
  });
  for (const ids of made) await removeContainers(ids);
  return times;
}

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    await makeImages();
    const floor = median(await bare());
    const swarmTimes: number[] = [];
    for (let round = 0; round < rounds; round++) swarmTimes.push(await swarm());
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) });
    const transport = adminTransport(cluster.kubeconfig);
    const client = createClient(transport);
    try {
      const one = median(await onePod(client));
      const many: number[] = [];
      for (let round = 0; round < rounds; round++) many.push(await deployment(client, round));
      const rate = replicas / (median(many) / 1000);
      const swarmRate = replicas / (median(swarmTimes) / 1000);
      return [
        {
          what: 'pod: create → Ready',
          value: one,
          unit: 'ms',
          floor: { what: 'bare Docker API, same two containers', value: floor },
          target: '≤ floor',
          met: one <= floor,
        },
        {
          what: `pods: ${replicas} replicas`,
          value: rate,
          unit: 'pods/s',
          floor: { what: 'Swarm', value: swarmRate },
          target: '≥ 1.5 × Swarm',
          met: rate >= 1.5 * swarmRate,
        },
      ];
    } finally {
      transport.close();
    }
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

export const pods: Benchmark = { name: 'pods', run };
