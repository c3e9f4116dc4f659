/**
 * A real API server with nodes and pods on a store in memory, and the scheduler as it runs in a master, all
 * in this process.
 */
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { storageKey } from '../../../src/apimachinery/resource-definition.ts';
import { componentUser } from '../../../src/apiserver/request/user.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { runControllers } from '../../../src/control-plane/run-controllers.ts';
import { scheduler } from '../../../src/scheduler/scheduler.ts';
import { encodeObject } from '../../../src/storage/codec.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { nodes } from './objects.ts';

const ofProcess = { clock: systemClock, random: systemRandom, log: silentLogger };

/** Starts a server with five thousand nodes and these pods. */
export async function serverWith(pods: readonly Pod[]): Promise<TestServer> {
  const server = await startTestServer(ofProcess);
  const put = async (key: string, object: KubeObject) => {
    const { resourceVersion: _, ...metadata } = object.metadata;
    await server.store.create(key, encodeObject({ ...object, metadata } as KubeObject));
  };
  for (const node of nodes()) await put(storageKey(nodeResource, '', node.metadata.name), node);
  for (const pod of pods) await put(storageKey(podResource, 'default', pod.metadata.name), pod);
  await server.cache.waitUntil(await server.store.currentRevision(), new AbortController().signal);
  return server;
}

export const clientOf = (server: TestServer): Client =>
  createClient(inProcessTransport(server.handlerFor(componentUser('kube-scheduler'))), ofProcess);

/** Resolves when the signal has aborted and the scheduler has ended. */
export const runScheduler = (server: TestServer, signal: AbortSignal): Promise<void> =>
  runControllers(
    { ...ofProcess, hostname: 'bench', sharesStore: false, controllers: [], scheduler: scheduler() },
    {
      ...server,
      clientOf: (user) => createClient(inProcessTransport(server.handlerFor(user)), ofProcess),
    },
    signal,
  );

/** Starts to watch now; resolves when `count` matching pods have been observed. */
export async function untilShown(
  client: Client,
  count: number,
  as: (pod: Pod) => boolean,
  signal: AbortSignal,
): Promise<{ readonly all: Promise<void> }> {
  const { resourceVersion = '' } = (await client.resource(podResource).list({ limit: 1 })).metadata;
  const watch = async () => {
    const shown = new Set<string>();
    for await (const { type, object } of client.resource(podResource).watch({ resourceVersion, signal })) {
      if (type !== 'BOOKMARK' && as(object)) shown.add(object.metadata.name);
      if (shown.size === count) return;
    }
  };
  return { all: watch() };
}
