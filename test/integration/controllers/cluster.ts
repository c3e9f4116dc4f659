/**
 * A control plane in one process: the real API server over the memory store, every controller and the scheduler
 * over real informers, and an agent that does for each node what matters to them: bound pods become ready with
 * an address of their own, terminating ones end.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Node, nodeResource } from '../../../src/api/core/v1/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import { type Draft, type KubeObject, objectKey } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { isConflict, isNotFound } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { type ControllerFactory, watched } from '../../../src/controller-runtime/definition.ts';
import { createEventRecorder } from '../../../src/controller-runtime/event-recorder.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import type { NodeApproval } from '../../../src/controllers/certificates/csr-approving-plan.ts';
import { controllers } from '../../../src/controllers/index.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { type SchedulerOptions, scheduler } from '../../../src/scheduler/scheduler.ts';
import {
  admin,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';
import { certificatesOf, testAuthority } from '../../fixtures/certificates.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export interface Cluster {
  readonly client: Client;
  readonly log: RecordingLogger;
  list<T extends KubeObject>(kind: ResourceRef<T>, namespace?: string): Promise<readonly T[]>;
  get<T extends KubeObject>(kind: ResourceRef<T>, name: string, namespace?: string): Promise<T | undefined>;
  /** Applies `change` to what is stored, again when someone else was faster. */
  edit<T extends KubeObject>(kind: ResourceRef<T>, name: string, change: (object: T) => void): Promise<T>;
  addNode(name: string, allocatable?: Record<string, string>, spec?: Node['spec']): Promise<Node>;
  /** What the agent may do; tests hold pods back by answering false. */
  agent: { mayBeReady(pod: Pod): boolean; mayEnd(pod: Pod): boolean };
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly scheduler?: SchedulerOptions;
  readonly wrapStore?: TestServerOptions['wrapStore'];
  /** Instead of one of its own; stopped with the cluster. */
  readonly server?: TestServer;
  /** Signs the certificates of nodes; one of its own unless told. */
  readonly authority?: KeyAndCertificate;
  /** Default auto. */
  readonly nodeApproval?: NodeApproval;
}

/** What a machine says of itself when it has taken its Node. */
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
  const { wrapStore } = options;
  const server =
    options.server ??
    (await startTestServer({ clock: systemClock, bareNamespaces: true, ...(wrapStore && { wrapStore }) }));
  const transport = inProcessTransport(server.handlerFor(admin));
  const client = createClient(transport);
  const log = new RecordingLogger();
  const base = { client, kinds: server.kinds, clock: systemClock, random: new SeededRandom(11), log };
  const events = createEventRecorder({ ...base, component: 'controllers' });
  const manager = createManager({ ...base, events, informers: createInformerFactory(base) });
  const agent: Cluster['agent'] = { mayBeReady: () => true, mayEnd: () => true };
  const factories = [
    ...controllers({
      clusterDomain: 'cluster.local',
      clusterCidr: '10.244.0.0/16',
      serviceCidr: '10.96.0.0/16',
      nodeApproval: options.nodeApproval ?? 'auto',
      certificates: certificatesOf(options.authority ?? (await testAuthority())),
    }),
    scheduler(options.scheduler),
  ];
  for (const factory of [...factories, agentOf(client, agent)]) manager.add(factory);
  const stopping = new AbortController();
  const running = manager.run(stopping.signal);

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
    log,
    agent,
    get,
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
      await running;
      await events.stop();
      transport.close();
      await server.stop();
    },
  };
}

/** Resolves to what `probe` gives once it is not undefined or false; fails with `what` after ten seconds. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  within = 30_000,
): Promise<T> {
  for (const deadline = Date.now() + within; Date.now() < deadline; await pause(3)) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
  }
  throw new Error(`did not happen within ${within} ms: ${what}`);
}

function agentOf(client: Client, may: Cluster['agent']): ControllerFactory {
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

    return {
      name: 'agent',
      workers: 8,
      watches: [watched(podResource, (pod) => [objectKey(pod)])],
      async reconcile(key) {
        const pod = pods.get(key);
        if (!pod?.spec.nodeName) return undefined;
        if (pod.metadata.deletionTimestamp) {
          if (!may.mayEnd(pod)) return { requeueAfter: 5 };
          await end(pod);
          return undefined;
        }
        if (pod.status?.phase === 'Running') return undefined;
        if (!may.mayBeReady(pod)) return { requeueAfter: 5 };
        const next = deepCopy(pod);
        const ip = addressOf(pod.metadata.uid);
        const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: rfc3339(Date.now()) };
        const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
        next.status = {
          ...next.status,
          phase: 'Running',
          podIP: ip,
          podIPs: [{ ip }],
          conditions: [...others, ready],
        };
        await client.resource(podResource).updateStatus(next);
        return undefined;
      },
    };
  };
}
