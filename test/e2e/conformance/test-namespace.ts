/**
 * Helpers for Kubernetes' conformance tests of the network, for the namespace of each test: pods, Services,
 * and the endpoints that answer.
 */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import {
  AppsV1Api,
  CoreV1Api,
  DiscoveryV1Api,
  Exec,
  type V1Container,
  type V1ContainerPort,
  type V1Pod,
  type V1PodSpec,
  type V1Service,
  type V1ServiceSpec,
  type V1Status,
} from '@kubernetes/client-node';
import { isReady } from '../harness/hello.ts';
import type { MultiCluster } from '../harness/multi-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Image of every pod here (test/fixtures/network-image.ts). */
export const image = `minik8s-test/network:${process.pid}`;

export interface Target {
  readonly protocol: 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
}

export const tcp = (host: string, port: number): Target => ({ protocol: 'tcp', host, port });
export const udp = (host: string, port: number): Target => ({ protocol: 'udp', host, port });

/** One test of the suite: its name there, and its steps in a namespace of its own. */
export interface Line {
  readonly name: string;
  steps(space: TestNamespace, context: TestContext): Promise<void>;
}

export const line = (name: string, steps: Line['steps']): Line => ({ name, steps });

export interface PodOptions {
  readonly labels?: Record<string, string>;
  /** Arguments of `netexec serve`, such as `tcp:80`; without arguments the pod serves nothing. */
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

/** Returns the spec of a pod with one container, `main`. */
const podSpec = ({ serves = [], ports, spec }: PodOptions): V1PodSpec => ({
  terminationGracePeriodSeconds: 0,
  containers: [container('main', serves, ports)],
  ...spec,
});

export class TestNamespace {
  readonly name: string;
  readonly cluster: MultiCluster;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly slices: DiscoveryV1Api;
  readonly #exec: Exec;

  private constructor(cluster: MultiCluster, name: string) {
    const config = cluster.kubeConfig();
    this.name = name;
    this.cluster = cluster;
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.slices = config.makeApiClient(DiscoveryV1Api);
    this.#exec = new Exec(config);
  }

  static async create(cluster: MultiCluster): Promise<TestNamespace> {
    const core = cluster.kubeConfig().makeApiClient(CoreV1Api);
    const { metadata } = await core.createNamespace({ body: { metadata: { generateName: 'test-' } } });
    return new TestNamespace(cluster, metadata?.name ?? '');
  }

  createPod(name: string, options: PodOptions = {}): Promise<V1Pod> {
    const { labels } = options;
    const body = { metadata: { name, ...(labels && { labels }) }, spec: podSpec(options) };
    return this.core.createNamespacedPod({ namespace: this.name, body });
  }

  /** Creates a pod and resolves when it is ready. */
  async pod(name: string, options: PodOptions = {}): Promise<V1Pod> {
    await this.createPod(name, options);
    return waitFor(`pod ${this.name}/${name} ready`, async () => {
      const pod = await this.core.readNamespacedPod({ namespace: this.name, name });
      return isReady(pod) && pod;
    });
  }

  /** Creates a ReplicaSet and returns its pods once all are ready. The pods have the label `name`. */
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

  /** Reads the Service, changes it and writes the whole object, as clients in Go do. */
  async updateService(name: string, change: (spec: V1ServiceSpec) => void): Promise<V1Service> {
    const service = await this.core.readNamespacedService({ namespace: this.name, name });
    assert.ok(service.spec);
    change(service.spec);
    return this.core.replaceNamespacedService({ namespace: this.name, name, body: service });
  }

  /** Returns the standard output of a command in a container of the pod; throws when the command fails. */
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

  /**
   * Returns the host names of the servers that answer a pod, each over a new connection; throws when a
   * request fails.
   */
  async ask(pod: string, { protocol, host, port }: Target, times = 1): Promise<readonly string[]> {
    const question = `netexec ask ${protocol} ${host} ${port} || exit 1`;
    return (await this.run(pod, ['sh', '-c', `for i in $(seq ${times}); do ${question}; done`])).split('\n');
  }

  /** Repeats requests until all of the names answer, and no other. */
  async reaches(pod: string, target: Target, names: readonly string[]): Promise<void> {
    const { protocol, host, port } = target;
    await waitFor(`${names.join(' and ')} answering ${pod} at ${protocol} ${host}:${port}`, async () => {
      // A round in which only one of two servers answers occurs once in hundreds; then it is repeated.
      const seen = new Set(await this.ask(pod, target, names.length === 1 ? 3 : 4 * names.length));
      assert.deepEqual([...seen].sort(), [...names].sort());
      return true;
    });
  }

  /** Waits until the ready endpoints of a Service are the expected ones, as `POD:PORT`. */
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
/** Returns containers by name, with the arguments of `netexec serve` of each. */
export const containersServing = (serves: Readonly<Record<string, readonly string[]>>): V1Container[] =>
  Object.entries(serves).map(([name, ports]) => container(name, ports));
