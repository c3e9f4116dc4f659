/**
 * A pod with an init container, a config volume and a token, beside the same calls of the bare Docker API.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configMapResource } from '../../src/api/core/v1/config-map.ts';
import { type Pod, podResource } from '../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/rest-client.ts';
import { Cluster } from '../e2e/harness/cluster.ts';
import { helloImage as image, makeImages } from '../e2e/harness/images.ts';
import { adminTransport } from './admin-transport.ts';
import { type Created, dockerApi, removeContainers } from './docker-api.ts';
import { untilNoContainers, untilPods } from './pods-wait.ts';
import { type Benchmark, median, type Row, timed } from './report.ts';

const pods = 15;
const command = ['true'];
const mounts = {
  config: '/config',
  token: '/var/run/secrets/kubernetes.io/serviceaccount',
} as const;
const most = 1.15;

async function start(container: object): Promise<string> {
  const { Id } = await dockerApi<Created>('POST', '/containers/create', { Image: image, ...container });
  await dockerApi('POST', `/containers/${Id}/start`);
  return Id;
}

/**
 * Runs the pod's sandbox, its init container until it has ended, and its own container, with two directories
 * in each.
 */
async function bareCalls(directory: string): Promise<readonly string[]> {
  const sandbox = await start({ Cmd: ['sleep', '1000'], HostConfig: { NetworkMode: 'bridge' } });
  const inside = {
    HostConfig: {
      NetworkMode: `container:${sandbox}`,
      Mounts: Object.values(mounts).map((Target) => ({
        Type: 'bind',
        Source: directory,
        Target,
        ReadOnly: true,
      })),
    },
  };
  const { Id: init } = await dockerApi<Created>('POST', '/containers/create', {
    Image: image,
    Entrypoint: command,
    ...inside,
  });
  // The request is sent before the container can have ended.
  const ended = dockerApi('POST', `/containers/${init}/wait?condition=next-exit`);
  await dockerApi('POST', `/containers/${init}/start`);
  await ended;
  return [await start(inside), init, sandbox];
}

async function floorOf(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-bench-'));
  const made: (readonly string[])[] = [];
  try {
    await writeFile(join(directory, 'a'), 'b');
    return median(await timed(pods, async () => void made.push(await bareCalls(directory))));
  } finally {
    for (const ids of made) await removeContainers(ids);
    await rm(directory, { recursive: true });
  }
}

async function podTime(client: Client): Promise<number> {
  const metadata = { name: 'config', namespace: 'default' };
  await client
    .resource(configMapResource)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
  const container = {
    image,
    imagePullPolicy: 'IfNotPresent',
    volumeMounts: [{ name: 'config', mountPath: mounts.config }],
  };
  const spec = {
    initContainers: [{ ...container, name: 'init', command }],
    containers: [{ ...container, name: 'main' }],
    volumes: [{ name: 'config', configMap: { name: 'config' } }],
    terminationGracePeriodSeconds: 0,
  } as unknown as Pod['spec'];
  const resource = client.resource(podResource);
  const times: number[] = [];
  for (let n = 0; n < pods; n++) {
    const name = `init-${n}`;
    const watching = untilPods(client, name, 1);
    const begin = performance.now();
    await resource.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec,
    });
    await watching;
    times.push(performance.now() - begin);
    const { spec: made } = await resource.get(name, 'default');
    if (!made.volumes?.some(({ projected }) => projected)) throw new Error('the pod has no token');
    await resource.delete(name, 'default', { gracePeriodSeconds: 0 });
    await untilPods(client, name, 0);
    await untilNoContainers(name);
  }
  return median(times);
}

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    await makeImages();
    const floor = await floorOf();
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) });
    const transport = adminTransport(cluster.kubeconfig);
    try {
      const value = await podTime(createClient(transport));
      return [
        {
          what: 'pod with an init container, a config volume and a token: create → Ready',
          value,
          unit: 'ms',
          floor: { what: 'bare Docker API, same calls', value: floor },
          target: `≤ ${most} × floor`,
          met: value <= most * floor,
        },
      ];
    } finally {
      transport.close();
    }
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

export const initPod: Benchmark = { name: 'init-pod', run };
