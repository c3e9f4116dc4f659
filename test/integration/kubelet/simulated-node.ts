/**
 * A node agent over the simulated engine against the real API server in this process; the connection to the
 * server can be cut.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type Clock, systemClock, type Timer } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { podRangeClaims } from '../../../src/controllers/nodes/node-ipam.ts';
import { createKubelet, type Kubelet, type KubeletOptions } from '../../../src/kubelet/kubelet.ts';
import type { NodeUsage } from '../../../src/kubelet/node/plan/eviction-thresholds.ts';
import type { NodeFacts } from '../../../src/kubelet/node/plan/node-status.ts';
import type { PodNetwork } from '../../../src/kubelet/runtime/pod-network.ts';
import type { ContainerRuntime } from '../../../src/kubelet/runtime/runtime.ts';
import { AddressPool } from '../../../src/network/ipam.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';
import { eventually } from './node-harness.ts';

export const facts: NodeFacts = {
  hostname: 'host',
  architecture: 'amd64',
  kernelVersion: '6.1',
  osImage: 'Debian',
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  hasAppArmor: false,
  cpus: 2,
  memoryBytes: 8 * 2 ** 30,
  storageBytes: 2 ** 40,
  kubeletVersion: 'v1.32.0',
};

/** Returns a pod network that assigns addresses and does nothing else. */
export function paperNetwork(): PodNetwork {
  const pool = new AddressPool('10.9.0.0/24');
  const done = async () => {};
  return {
    setUp: done,
    allocate: () => pool.allocate(),
    addressesOf: (ip) => [ip],
    adopt: (ip) => pool.adopt(ip),
    release: (ip) => pool.release(ip),
    attach: done,
    close: done,
    detach: done,
    setHostPorts: done,
  };
}

/** Lifetime of an agent. Anything that a dead agent waits for never arrives. */
class Life {
  readonly #over = new AbortController();
  readonly signal = this.#over.signal;
  readonly #timers = new Set<Timer>();

  readonly clock: Clock = {
    ...systemClock,
    after: (ms, fn) => {
      if (this.isOver) return { cancel: () => undefined };
      const timer = systemClock.after(ms, () => {
        this.#timers.delete(timer);
        fn();
      });
      this.#timers.add(timer);
      return timer;
    },
  };

  get isOver(): boolean {
    return this.signal.aborted;
  }

  end(): void {
    this.#over.abort();
    for (const timer of this.#timers) timer.cancel();
  }
}

const never = () => new Promise<never>(() => undefined);

function mortalRuntime(
  runtime: SimulatedRuntime,
  life: Life,
  deadly: (call: string) => 'before' | 'after' | undefined,
  end: () => Promise<never>,
): ContainerRuntime {
  return new Proxy(runtime, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = value.bind(target);
      if (name === 'events' || name === 'logs') return call;
      return async (...given: unknown[]) => {
        if (life.isOver) return never();
        const when = deadly(String(name));
        if (when === 'before') return end();
        const answer: unknown = await call(...given);
        if (when === 'after') return end();
        return life.isOver ? never() : answer;
      };
    },
  });
}

export interface SimulatedNode {
  readonly server: TestServer;
  /** Data directory of the agent. */
  readonly dataDir: string;
  readonly runtime: SimulatedRuntime;
  /** `reason message` of every event that this agent and earlier agents recorded. */
  readonly events: readonly string[];
  /** Usage that the simulated machine reports. */
  usage: NodeUsage;
  /** Starts an agent; at most one runs at a time. */
  start(more?: Partial<KubeletOptions>): Kubelet;
  /** Stops the agent, as SIGTERM does. */
  stop(): Promise<void>;
  /**
   * Starts an agent without spare sandboxes. It ends as by SIGKILL, before or after the engine call for
   * which `deadly` returns `before` or `after`. Resolves when the agent has ended or was stopped.
   */
  startMortal(deadly: (call: string) => 'before' | 'after' | undefined): Promise<void>;
  /** Breaks every connection of the agent and rejects new ones. */
  cutOff(): void;
  reconnect(): void;
  node(): Promise<Node>;
  condition(
    type: string,
  ): Promise<{ status: string; reason?: string | undefined; message?: string | undefined }>;
  createPod(name: string, spec?: object): Promise<void>;
  pod(name: string): Promise<Pod>;
  waitFor(name: string, test: (pod: Pod) => boolean): Promise<Pod>;
  /** Returns the names of a pod's containers that run now. */
  running(name: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const nodeName = 'node-1';

/**
 * Resolves to the answer; rejects, or breaks off a body that has begun, once `cut` is aborted. The server may
 * still execute the request.
 */
async function untilCutOff(answering: Response | Promise<Response>, cut: AbortSignal): Promise<Response> {
  const answer = await answering;
  if (cut.aborted) await answer.body?.cancel();
  cut.throwIfAborted();
  const body = answer.body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal: cut });
  return new Response(body ?? null, answer);
}

export async function startSimulatedNode(
  onTerminate?: (name: string) => 'exit' | 'ignore' | 'refuse',
  onUpdate?: () => string | undefined,
): Promise<SimulatedNode> {
  const server = await startTestServer({
    clock: systemClock,
    podRangeProblem: podRangeClaims('10.9.0.0/16'),
  });
  const dataDir = await mkdtemp(join(tmpdir(), 'minik8s-node-'));
  const runtime = new SimulatedRuntime({
    clock: systemClock,
    random: new SeededRandom(1),
    images: new Map(['app:1', 'app:2'].map((name) => [name, { present: true }])),
    ...(onTerminate && { onTerminate: ({ pod }) => onTerminate(pod.name) }),
    ...(onUpdate && { onUpdate }),
  });
  const events: string[] = [];
  const services = new ScriptedInformers();
  let agent: { readonly stop: AbortController; readonly running: Promise<void> } | undefined;
  let connection: AbortController | undefined = new AbortController();
  // Requests have the node's identity, so the agent can do only what the node may do.
  const handler = server.handlerFor({
    name: `system:node:${nodeName}`,
    groups: ['system:nodes', 'system:authenticated'],
  });
  const clientOf = (life: Life) =>
    createClient(
      inProcessTransport(async (request) => {
        if (life.isOver) return never();
        if (!connection)
          return new Response('{}', { status: 503, headers: { 'content-type': 'application/json' } });
        const cut = AbortSignal.any([connection.signal, life.signal]);
        const signal = AbortSignal.any([request.signal, cut]);
        return untilCutOff(handler(new Request(request, { signal })), cut);
      }),
      { clock: life.clock },
    );
  const client = clientOf(new Life());
  const get = async <T>(path: string) => {
    const { status, text, json } = await server.call('GET', path);
    assert.equal(status, 200, text);
    return json<T>();
  };
  const harness: SimulatedNode = {
    server,
    dataDir,
    runtime,
    events,
    usage: plenty,
    start(more = {}) {
      assert.equal(agent, undefined);
      const stop = new AbortController();
      const kubelet = createKubelet({
        policies: undefined,
        client,
        informers: createInformerFactory({
          client,
          clock: systemClock,
          random: new SeededRandom(2),
          log: silentLogger,
        }),
        services: services.informerFor(serviceResource),
        events: { event: (_about, _type, reason, message) => void events.push(`${reason} ${message}`) },
        runtime,
        network: paperNetwork(),
        exec: async () => ({ stdout: '', stderr: '' }),
        clock: systemClock,
        random: new SeededRandom(4),
        log: silentLogger,
        nodeName,
        nodeIP: '192.0.2.7',
        dataDir,
        facts,
        readPauseArchive: async () => new Uint8Array(),
        podCIDR: '10.9.0.0/24',
        heartbeatMs: 50,
        readUsage: async () => harness.usage,
        ...more,
      });
      agent = { stop, running: kubelet.run(stop.signal) };
      agent.running.catch(() => undefined);
      return kubelet;
    },
    async stop() {
      agent?.stop.abort();
      await agent?.running;
      agent = undefined;
    },
    async startMortal(deadly) {
      const life = new Life();
      const { promise: died, resolve: die } = Promise.withResolvers<void>();
      const end = () => {
        life.end();
        agent = undefined;
        die();
        return never();
      };
      const own = clientOf(life);
      harness.start({
        client: own,
        informers: createInformerFactory({
          client: own,
          clock: life.clock,
          random: new SeededRandom(2),
          log: silentLogger,
        }),
        clock: life.clock,
        sandboxPool: 0,
        runtime: mortalRuntime(runtime, life, deadly, end),
        events: {
          event: (_about, _type, reason, message) =>
            void (life.isOver || events.push(`${reason} ${message}`)),
        },
      });
      await Promise.race([died, agent?.running]);
    },
    cutOff() {
      connection?.abort();
      connection = undefined;
    },
    reconnect() {
      connection = new AbortController();
    },
    node: () => get<Node>(`/api/v1/nodes/${nodeName}`),
    async condition(type) {
      const { status } = await harness.node();
      return status?.conditions?.find((condition) => condition.type === type) ?? assert.fail(`no ${type}`);
    },
    async createPod(name, spec = {}) {
      const answer = await server.call('POST', '/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { nodeName, containers: [{ name: 'main', image: 'app:1' }], ...spec },
      });
      assert.equal(answer.status, 201, answer.text);
    },
    pod: (name) => get<Pod>(`/api/v1/namespaces/default/pods/${name}`),
    waitFor: (name, test) =>
      eventually(async () => {
        const pod = await harness.pod(name);
        assert.ok(test(pod), `pod ${name}: ${JSON.stringify(pod.status)}`);
        return pod;
      }),
    async running(name) {
      const states = await Promise.all((await runtime.list()).map(({ id }) => runtime.inspect(id)));
      return states.flatMap((object) =>
        object?.kind === 'container' && object.state === 'running' && object.pod.name === name
          ? [object.id]
          : [],
      );
    },
    async close() {
      await harness.stop().catch(() => undefined);
      await rm(dataDir, { recursive: true, force: true });
      await server.stop();
    },
  };
  return harness;
}
