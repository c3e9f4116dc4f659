/** What the tests of Kubernetes' conformance on the network share: a cluster of two nodes, and a namespace for each test. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  AppsV1Api,
  CoreV1Api,
  DiscoveryV1Api,
  Exec,
  type KubeConfig,
  type V1Container,
  type V1ContainerPort,
  type V1Pod,
  type V1PodSpec,
  type V1Service,
  type V1ServiceSpec,
  type V1Status,
} from '@kubernetes/client-node';
import { systemExec } from '../../../src/base/exec.ts';
import { makeNetworkImage } from '../../fixtures/network-image.ts';
import type { Cleanup } from './cluster.ts';
import { isReady } from './hello.ts';
import { MultiCluster } from './multi-cluster.ts';
import { waitFor } from './wait-for.ts';

const image = `minik8s-test/network:${process.pid}`;

/** A cluster whose nodes have the image that every pod here is of. */
export async function startNetworkCluster(cleanup: Cleanup): Promise<MultiCluster> {
  await makeNetworkImage(image);
  cleanup.after(async () => {
    await systemExec('docker', ['image', 'rm', '-f', image]);
  });
  return MultiCluster.start(cleanup, { hosts: 2, images: [image] });
}

export interface PodOptions {
  readonly labels?: Record<string, string>;
  /** Arguments of `netexec serve`, such as `tcp:80`; without any the pod does nothing. */
  readonly serves?: readonly string[];
  readonly ports?: readonly V1ContainerPort[];
  readonly spec?: Partial<V1PodSpec>;
}

const container = (
  name: string,
  serves: readonly string[],
  ports: readonly V1ContainerPort[] = [],
): V1Container => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  ports: [...ports],
  ...(serves.length > 0 && { command: ['netexec', 'serve', ...serves] }),
});

/** A pod of one container, `main`. */
const podSpec = ({ serves = [], ports, spec }: PodOptions): V1PodSpec => ({
  terminationGracePeriodSeconds: 0,
  containers: [container('main', serves, ports)],
  ...spec,
});

export class TestNamespace {
  readonly name: string;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly slices: DiscoveryV1Api;
  readonly #exec: Exec;

  private constructor(config: KubeConfig, name: string) {
    this.name = name;
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.slices = config.makeApiClient(DiscoveryV1Api);
    this.#exec = new Exec(config);
  }

  static async create(config: KubeConfig, generateName: string): Promise<TestNamespace> {
    const core = config.makeApiClient(CoreV1Api);
    const { metadata } = await core.createNamespace({ body: { metadata: { generateName } } });
    return new TestNamespace(config, metadata?.name ?? '');
  }

  createPod(name: string, options: PodOptions = {}): Promise<V1Pod> {
    const { labels } = options;
    const body = { metadata: { name, ...(labels && { labels }) }, spec: podSpec(options) };
    return this.core.createNamespacedPod({ namespace: this.name, body });
  }

  /** Resolves when it is ready. */
  async pod(name: string, options: PodOptions = {}): Promise<V1Pod> {
    await this.createPod(name, options);
    return waitFor(`pod ${this.name}/${name} ready`, async () => {
      const pod = await this.core.readNamespacedPod({ namespace: this.name, name });
      return isReady(pod) && pod;
    });
  }

  /** Of a ReplicaSet, once all are ready. They have the label `name`. */
  async replicas(name: string, replicas: number, serves: readonly string[]): Promise<readonly V1Pod[]> {
    const labels = { name };
    const template = { metadata: { labels }, spec: podSpec({ serves }) };
    const body = { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
    await this.apps.createNamespacedReplicaSet({ namespace: this.name, body });
    return waitFor(`${replicas} pods of ${this.name}/${name}`, async () => {
      const { items } = await this.core.listNamespacedPod({
        namespace: this.name,
        labelSelector: `name=${name}`,
      });
      return items.length === replicas && items.every(isReady) && items;
    });
  }

  async removePod(name: string): Promise<void> {
    await this.core.deleteNamespacedPod({ namespace: this.name, name });
  }

  service(name: string, spec: V1ServiceSpec): Promise<V1Service> {
    return this.core.createNamespacedService({ namespace: this.name, body: { metadata: { name }, spec } });
  }

  /** Reads it, changes it and writes it back whole, as clients in Go do. */
  async updateService(name: string, change: (spec: V1ServiceSpec) => void): Promise<V1Service> {
    const service = await this.core.readNamespacedService({ namespace: this.name, name });
    assert.ok(service.spec);
    change(service.spec);
    return this.core.replaceNamespacedService({ namespace: this.name, name, body: service });
  }

  /** Standard output of a command in a container of the pod; throws when it fails. */
  async run(pod: string, command: readonly string[], containerName = 'main'): Promise<string> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const outputs = [text(stdout), text(stderr)];
    const status = await new Promise<V1Status>((resolve, reject) => {
      this.#exec
        .exec(this.name, pod, containerName, [...command], stdout, stderr, null, false, resolve)
        .catch(reject);
    });
    stdout.end();
    stderr.end();
    const [output = '', complaint] = await Promise.all(outputs);
    if (status.status !== 'Success') throw new Error(`${command.join(' ')}: ${status.message} ${complaint}`);
    return output.trim();
  }

  /** The name of the host that answers a pod, over a new connection. */
  ask(pod: string, protocol: 'tcp' | 'udp', host: string, port: number | string): Promise<string> {
    return this.run(pod, ['netexec', 'ask', protocol, host, String(port)]);
  }

  /** Asks until each of the names has answered, and fails when another does after they all have. */
  async reaches(
    pod: string,
    protocol: 'tcp' | 'udp',
    host: string,
    port: number | string,
    names: readonly string[],
  ): Promise<void> {
    const seen = new Set<string>();
    await waitFor(`${names.join(' and ')} answering ${pod} at ${protocol} ${host}:${port}`, async () => {
      seen.add(await this.ask(pod, protocol, host, port));
      return names.every((name) => seen.has(name));
    });
    assert.deepEqual([...seen].sort(), [...names].sort(), `${protocol} ${host}:${port}`);
  }

  /** The endpoints of a Service that are ready, as `POD:PORT`, once they are the ones expected. */
  async endpointsAre(service: string, expected: Readonly<Record<string, readonly number[]>>): Promise<void> {
    const wanted = Object.entries(expected).flatMap(([pod, ports]) => ports.map((port) => `${pod}:${port}`));
    await waitFor(`endpoints ${wanted.join(' ') || 'none'} of ${this.name}/${service}`, async () => {
      const labelSelector = `kubernetes.io/service-name=${service}`;
      const { items } = await this.slices.listNamespacedEndpointSlice({
        namespace: this.name,
        labelSelector,
      });
      const found = items.flatMap(({ endpoints, ports = [] }) =>
        (endpoints ?? [])
          .filter(({ conditions }) => conditions?.ready)
          .flatMap(({ targetRef }) => ports.map(({ port }) => `${targetRef?.name}:${port}`)),
      );
      if (found.sort().join() === wanted.sort().join()) return true;
      throw new Error(`there are ${found.join(' ') || 'none'}`);
    });
  }
}

export const nameOf = ({ metadata }: V1Pod): string => metadata?.name ?? '';
export const addressOf = ({ status }: V1Pod): string => status?.podIP ?? '';
/** Containers by name, with the arguments of `netexec serve` of each. */
export const containersServing = (serves: Readonly<Record<string, readonly string[]>>): V1Container[] =>
  Object.entries(serves).map(([name, ports]) => container(name, ports));
