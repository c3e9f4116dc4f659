/** A node agent on the real Docker engine against the real API server in this process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../../src/base/log.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { createKubelet, type KubeletOptions } from '../../../src/kubelet/kubelet.ts';
import { cleanupKubelet } from '../../../src/kubelet/node/cleanup.ts';
import { readNodeFacts } from '../../../src/kubelet/node/node-facts.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { PodFiles } from '../../../src/kubelet/volumes/pod-files.ts';
import { cleanupNetwork, RoutedPodNetwork } from '../../../src/network/pod-network.ts';
import { systemExec } from '../../../src/os/exec.ts';
import {
  admin,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';
import { makeTestImages, type TestImages } from '../../fixtures/docker-images.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { pauseMs } from '../../fixtures/eventually.ts';
import { hasMachine } from '../../fixtures/machine-lock.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export const podCIDR = '10.231.7.0/24';
export const clusterCIDR = '10.231.0.0/16';
/** Names that differ from the product's, so that a cluster on this machine is not affected. */
const names = {
  table: 'minik8s-test-network',
  chain: 'MINIK8S-TEST',
  linkPrefix: 'mkit',
  vxlanLink: 'mkit.vxlan',
  vxlanTable: 'minik8s-test-vxlan',
  routeProtocol: 108,
};
export const nodeIP = '10.231.255.1';

export interface NodeHarness {
  readonly server: TestServer;
  readonly client: Client;
  readonly images: TestImages;
  readonly runtime: DockerRuntime;
  readonly owner: string;
  readonly dataDir: string;
  /** `reason message` of every event that the agent recorded. */
  readonly events: readonly string[];
  /** Resolves once the node is Ready. */
  startAgent(overrides?: Partial<KubeletOptions>): Promise<void>;
  stopAgent(): Promise<void>;
  createPod(name: string, spec: object, metadata?: object): Promise<Pod>;
  pod(name: string): Promise<Pod>;
  /** Resolves with the pod once the condition is true; rejects with its last state after `ms`. */
  waitFor(name: string, test: (pod: Pod) => boolean, ms?: number): Promise<Pod>;
  waitForGone(name: string, ms?: number): Promise<void>;
  close(): Promise<void>;
}

export const isReady = (pod: Pod) =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

export interface HarnessOptions extends Pick<TestServerOptions, 'functionCalls'> {
  readonly log?: Logger;
  /** Socket of a Docker engine of the test's own. */
  readonly socketPath?: string;
}

export async function startNodeHarness({
  log = silentLogger,
  socketPath = dockerSocket,
  ...served
}: HarnessOptions = {}): Promise<NodeHarness> {
  if (!hasMachine()) throw new Error('a node uses addresses of this machine: await lockMachine() before');
  const run = `it-${process.pid}-${Date.now().toString(36)}`;
  const images = await makeTestImages(run, socketPath);
  const dataDir = await mkdtemp(join(tmpdir(), 'minik8s-kubelet-'));
  const server = await startTestServer({
    ...served,
    clock: systemClock,
    random: new SeededRandom(process.pid),
  });
  const client = createClient(inProcessTransport(server.handlerFor(admin)));
  const random = new SeededRandom(1);
  const runtime = new DockerRuntime({
    socketPath,
    owner: run,
    pauseImage: images.pause,
    initPath: join(dataDir, 'bin', 'pause'),
    clock: systemClock,
    exec: systemExec,
  });
  // An address of this machine that pods can see as the machine's own; a killed run may have left it.
  await systemExec('ip', ['address', 'replace', `${nodeIP}/32`, 'dev', 'lo']);
  const events: string[] = [];
  let agent: { readonly stop: AbortController; readonly running: Promise<void> } | undefined;
  const pods = client.resource(podResource);
  const get = (name: string) => pods.get(name, 'default');

  async function stopAgent(): Promise<void> {
    agent?.stop.abort();
    await agent?.running;
    agent = undefined;
  }

  return {
    server,
    client,
    images,
    runtime,
    owner: run,
    dataDir,
    events,
    stopAgent,
    pod: get,
    async startAgent(overrides = {}) {
      const stop = new AbortController();
      const informers = createInformerFactory({ client, clock: systemClock, random, log });
      const kubelet = createKubelet({
        policies: undefined,
        client,
        informers,
        services: informers.informerFor(serviceResource),
        events: { event: (_about, _type, reason, message) => void events.push(`${reason} ${message}`) },
        runtime,
        network: new RoutedPodNetwork({
          rules: undefined,
          exec: systemExec,
          log,
          nodeIP,
          clusterCIDR,
          names,
        }),
        exec: systemExec,
        clock: systemClock,
        random,
        log,
        nodeName: 'node-1',
        nodeIP,
        dataDir,
        facts: await readNodeFacts(dataDir, 'v1.32.0-test'),
        readPauseArchive: async () => images.pauseArchive,
        podCIDR,
        readUsage: async () => plenty,
        ...overrides,
      });
      agent = { stop, running: kubelet.run(stop.signal) };
      await Promise.race([
        agent.running,
        eventually(async () => {
          const { json } = await server.call('GET', '/api/v1/nodes/node-1');
          const node = json<{ status?: { conditions?: { type: string; status: string }[] } }>();
          const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
          if (ready?.status !== 'True') throw new Error(`node-1 is not ready: ${JSON.stringify(ready)}`);
        }),
      ]);
    },
    async createPod(name, spec, metadata = {}) {
      const answer = await server.call('POST', '/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', ...metadata },
        spec: { nodeName: 'node-1', ...spec },
      });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.json<Pod>();
    },
    waitFor: (name, test, ms = 120_000) =>
      eventually(async () => {
        const pod = await get(name);
        if (!test(pod)) throw new Error(`pod ${name}: ${JSON.stringify(pod.status)}`);
        return pod;
      }, ms),
    async waitForGone(name, ms = 120_000) {
      await eventually(async () => {
        const { status } = await server.call('GET', `/api/v1/namespaces/default/pods/${name}`);
        if (status !== 404) throw new Error(`pod ${name} is still there`);
      }, ms);
    },
    async close() {
      const files = new PodFiles({ dataDir, exec: systemExec });
      const steps = [
        stopAgent,
        () => cleanupKubelet(runtime, files, dataDir),
        () => cleanupNetwork(systemExec, names),
        () => systemExec('ip', ['address', 'del', `${nodeIP}/32`, 'dev', 'lo']),
        () => images.remove(),
        () => rm(dataDir, { recursive: true, force: true }),
        () => server.stop(),
      ];
      const failures: unknown[] = [];
      // Each step runs even if others failed: a failed test must leave nothing on the machine.
      for (const step of steps) {
        try {
          await step();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'the node could not be cleaned up');
    },
  };
}

/** Retries until `work` succeeds; rejects with the last error after `ms`. */
export async function eventually<T>(work: () => Promise<T>, ms = 120_000): Promise<T> {
  const start = performance.now();
  for (;;) {
    const begun = performance.now();
    try {
      return await work();
    } catch (error) {
      const now = performance.now();
      if (now - start > ms) throw error;
      await pause(pauseMs(now - begun, now - start));
    }
  }
}
