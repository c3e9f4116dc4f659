/**
 * The control plane on the memory store with a clock that only tests advance, and a simulated agent for
 * each node: bound pods become ready with an address of their own, and terminating
 * pods end.
 */

import assert from 'node:assert/strict';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { isPodTerminal } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { type Draft, isTerminating, type KubeObject, objectKey } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { isConflict, isNotFound } from '../../../src/apimachinery/status-error.ts';
import { type Authorizer, refusal } from '../../../src/apiserver/authorization/authorizer.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { type Clock, sleep } from '../../../src/base/clock.ts';
import type { Logger } from '../../../src/base/log.ts';
import { Registry } from '../../../src/base/metrics/registry.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { runControllers } from '../../../src/control-plane/run-controllers.ts';
import {
  type ControllerFactory,
  controllersWith,
  type ReconcileResult,
  watched,
} from '../../../src/controller-runtime/definition.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { type ControllersOptions, controllers } from '../../../src/controllers/index.ts';
import { features } from '../../../src/features/index.ts';
import type { WorkflowSettings } from '../../../src/features/workflows/workflows.ts';
import { type SchedulerOptions, scheduler } from '../../../src/scheduler/scheduler.ts';
import type { Store } from '../../../src/storage/store.ts';
import { admin, type TestServer, type TestServerOptions } from '../../fixtures/api-server.ts';
import { type ClusterSettings, controllersOptions, createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually, type Probe } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export interface Cluster {
  /** Client of an administrator. */
  readonly client: Client;
  clientOf(user: UserInfo): Client;
  /** Sends the request to the API server as an administrator. */
  ask(request: Request): Promise<Response>;
  /** Descriptions of requests that no rule allowed; empty if the server existed before the cluster. */
  readonly refused: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: RecordingLogger;
  /** The same as test/fixtures/eventually.ts, by the cluster's clock. */
  eventually<T>(what: string, probe: Probe<T>, within?: number): Promise<T>;
  /** Returns the result of the promise; advances the clock until the promise is settled. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Advances the clock by `ms`. */
  pass(ms: number): Promise<void>;
  list<T extends KubeObject>(kind: ResourceRef<T>, namespace?: string): Promise<readonly T[]>;
  get<T extends KubeObject>(kind: ResourceRef<T>, name: string, namespace?: string): Promise<T | undefined>;
  /** Applies `change` to the stored object; retries after a conflict. */
  edit<T extends KubeObject>(kind: ResourceRef<T>, name: string, change: (object: T) => void): Promise<T>;
  addNode(name: string, allocatable?: Record<string, string>, spec?: Node['spec']): Promise<Node>;
  /** Decisions of the simulated agent: it makes a pod ready or ends it only if the function returns true. */
  agent: {
    mayBeReady(pod: Pod): boolean;
    mayEnd(pod: Pod): boolean;
    /** Returns how a running pod ends by itself; undefined while it continues to run. */
    outcome(pod: Pod): 'Succeeded' | 'Failed' | undefined;
  };
  stop(): Promise<void>;
}

export interface ClusterOptions extends ClusterSettings {
  readonly scheduler?: SchedulerOptions;
  readonly autoscaling?: ControllersOptions['autoscaling'];
  readonly placedCalls?: WorkflowSettings['placedCalls'];
  /** Clock to use instead of one of the cluster's own. */
  readonly clock?: FakeClock;
  readonly wrapStore?: TestServerOptions['wrapStore'];
  /** Store to use instead of an empty one. */
  readonly store?: Store;
  /** Server to use instead of one of the cluster's own; stopped with the cluster. */
  readonly server?: TestServer;
}

/** Facts that a machine reports about itself after it has registered its Node. */
export const nodeInfo = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6.1',
  osImage: 'Linux',
  containerRuntimeVersion: 'docker://20.10.24',
  kubeletVersion: 'v1.32.0',
  kubeProxyVersion: 'v1.32.0',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const log = new RecordingLogger();
  const refused = new Set<string>();
  const stopping = new AbortController();
  const clock = options.server?.ownClock ?? options.clock ?? new FakeClock();
  const settle = <T>(work: Promise<T>) => (clock instanceof FakeClock ? clock.until(work) : work);
  const [clientOf, running, ask] = await (options.server
    ? startBeside(options.server, { ...options, log }, stopping.signal)
    : startPlane({ ...options, clock, log, refused }, settle, stopping.signal));
  const client = clientOf(admin);
  const agent: Cluster['agent'] = {
    mayBeReady: () => true,
    mayEnd: () => true,
    outcome: () => undefined,
  };
  const agents = runAgents({ client, clock, log }, agent, stopping.signal);

  const get: Cluster['get'] = async (kind, name, namespace = 'default') => {
    try {
      return await client.resource(kind).get(name, kind.namespaced ? namespace : undefined);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return {
    client,
    clientOf,
    ask,
    refused,
    clock,
    log,
    agent,
    get,
    eventually: (what, probe, within) => eventually(clock, what, probe, within),
    until: settle,
    async pass(ms) {
      await (clock instanceof FakeClock ? clock.advance(ms) : sleep(clock, ms));
    },
    list: async (kind, namespace) => (await client.resource(kind).list(namespace ? { namespace } : {})).items,
    async edit(kind, name, change) {
      for (;;) {
        const object = await client.resource(kind).get(name, kind.namespaced ? 'default' : undefined);
        change(object);
        try {
          return await client.resource(kind).update(object);
        } catch (error) {
          if (!isConflict(error)) throw error;
        }
      }
    },
    async addNode(name, allocatable = { cpu: '4', memory: '8Gi', pods: '110' }, spec = {}) {
      const draft: Draft<Node> = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec };
      const node = await client.resource(nodeResource).create(draft);
      const conditions = [{ type: 'Ready', status: 'True' as const }];
      node.status = { allocatable, capacity: allocatable, conditions, nodeInfo };
      for (;;) {
        try {
          return await client.resource(nodeResource).updateStatus(node);
        } catch (error) {
          if (!isConflict(error)) throw error;
          node.metadata = (await client.resource(nodeResource).get(name)).metadata;
        }
      }
    },
    async stop() {
      stopping.abort();
      await settle(Promise.all([running, agents]));
      await options.server?.stop();
      const parts = [...refused].filter(
        (text) =>
          text.startsWith('User "system:') && !text.startsWith('User "system:serviceaccount:default:'),
      );
      assert.deepEqual(parts, [], 'its roles allow every part of the control plane what it does');
    },
  };
}

interface Parts extends Omit<ClusterOptions, 'clock'> {
  readonly clock: Clock;
  readonly log: RecordingLogger;
}

async function startPlane(
  options: Parts & { readonly refused: Set<string> },
  settle: <T>(work: Promise<T>) => Promise<T>,
  signal: AbortSignal,
): Promise<[(user: UserInfo) => Client, Promise<void>, Cluster['ask']]> {
  const { clock, log, refused, server: _, wrapStore = (store) => store, ...settings } = options;
  // The last authorizer: a request that reaches it was allowed by no rule.
  const authorize: Authorizer = (request) => {
    refused.add(refusal(request, { allowed: false, reason: '' }));
    return false;
  };
  const plane = await createTestPlane(clock, {
    ...settings,
    authorize,
    store: wrapStore(options.store ?? createMemoryStore()),
    log,
    ...(options.scheduler && { scheduler: options.scheduler }),
  });
  const running = plane.run(signal);
  await settle(Promise.race([plane.ready, running]));
  return [plane.clientOf, running, plane.server.handlerFor(admin)];
}

/** Starts controllers and the scheduler beside an existing server. */
async function startBeside(
  server: TestServer,
  options: Omit<Parts, 'clock'>,
  signal: AbortSignal,
): Promise<[(user: UserInfo) => Client, Promise<void>, Cluster['ask']]> {
  const clock = server.ownClock;
  const random = new SeededRandom(11);
  const clientOf = (user: UserInfo) =>
    createClient(inProcessTransport(server.handlerFor(user)), { clock, random });
  const settings = await controllersOptions(options, clock);
  const { signSecretToken, askExtensionServer } = server;
  const running = runControllers(
    {
      clock,
      random,
      log: options.log,
      hostname: 'master',
      sharesStore: false,
      controllers: [
        ...controllersWith(controllers, { ...settings, signSecretToken, askExtensionServer }, new Registry()),
        ...features.flatMap((feature) => controllersWith(feature.controllers, settings, new Registry())),
      ],
      scheduler: scheduler(options.scheduler),
    },
    { ...server, clientOf },
    signal,
  );
  return [clientOf, running, server.handlerFor(admin)];
}

function runAgents(
  base: { readonly client: Client; readonly clock: Clock; readonly log: Logger },
  may: Cluster['agent'],
  signal: AbortSignal,
): Promise<void> {
  const context = { ...base, kinds: new KindSet([]), random: new SeededRandom(12) };
  const informers = createInformerFactory(context);
  const manager = createManager({ ...context, informers, events: { event: () => undefined } });
  manager.add(agentOf(base, may));
  return manager.run(signal);
}

function agentOf(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  may: Cluster['agent'],
): ControllerFactory {
  return ({ informers }) => {
    const pods = informers.informerFor(podResource).lister;
    const addresses = new Map<string, string>();

    function addressOf(uid: string): string {
      const known = addresses.get(uid) ?? `10.244.${addresses.size >> 8}.${addresses.size & 255}`;
      addresses.set(uid, known);
      return known;
    }

    async function end({ metadata: { name, namespace, uid } }: Pod): Promise<void> {
      try {
        await client
          .resource(podResource)
          .delete(name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }

    async function setPhase(pod: Pod, phase: 'Succeeded' | 'Failed'): Promise<void> {
      const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
      const notReady = { type: 'Ready', status: 'False' as const, lastTransitionTime: rfc3339(clock.now()) };
      const status = { ...pod.status, phase, conditions: [...conditions, notReady] };
      await client.resource(podResource).updateStatus({ ...deepCopy(pod), status });
    }

    async function start(pod: Pod): Promise<void> {
      const next = deepCopy(pod);
      const ip = addressOf(pod.metadata.uid);
      const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: rfc3339(clock.now()) };
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
      next.status = {
        ...next.status,
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [...others, ready],
      };
      await client.resource(podResource).updateStatus(next);
    }

    /** Clients that wait for the pod's end see the end before the pod may be removed. */
    async function stop(pod: Pod): Promise<ReconcileResult | undefined> {
      if (!may.mayEnd(pod)) return { requeueAfter: 5 };
      if (pod.metadata.finalizers?.length && !isPodTerminal(pod)) await setPhase(pod, 'Failed');
      else await end(pod);
      return undefined;
    }

    async function run(pod: Pod): Promise<ReconcileResult | undefined> {
      if (isPodTerminal(pod)) return undefined;
      if (pod.status?.phase === 'Running') {
        const outcome = may.outcome(pod);
        if (outcome) await setPhase(pod, outcome);
        return undefined;
      }
      if (!may.mayBeReady(pod)) return { requeueAfter: 5 };
      await start(pod);
      return undefined;
    }

    return {
      name: 'agent',
      workers: 8,
      watches: [watched(podResource, (pod) => [objectKey(pod)])],
      async reconcile(key) {
        const pod = pods.get(key);
        if (!pod?.spec.nodeName) return undefined;
        return isTerminating(pod) ? stop(pod) : run(pod);
      },
    };
  };
}
