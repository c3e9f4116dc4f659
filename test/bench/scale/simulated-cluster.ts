/**
 * A control plane on a store in memory, and agents that report every pod as running at once, all in this
 * process by the machine's clock.
 */

import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from '../../integration/controllers/cluster.ts';

export async function simulatedCluster(nodes: number): Promise<Cluster> {
  const server = await startTestServer({ clock: systemClock, random: systemRandom, log: silentLogger });
  const cluster = await startCluster({ server });
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  // Number of concurrent requests, as with a machine's connections.
  for (let at = 0; at < nodes; at += 50)
    await Promise.all(names.slice(at, at + 50).map((name) => cluster.addNode(name)));
  return cluster;
}

export interface Passed {
  /** Milliseconds until the last pod was created. */
  readonly made: number;
  /** Milliseconds until the last pod was ready. */
  readonly ready: number;
  /** Milliseconds of processor time of this process until then. */
  readonly cpu: number;
}

/** Calls `begin` and waits until `count` pods exist and are ready. */
export async function untilReady(
  { client }: Cluster,
  count: number,
  begin: () => Promise<unknown>,
): Promise<Passed> {
  const stopping = new AbortController();
  const { resourceVersion = '' } = (await client.resource(podResource).list({ limit: 1 })).metadata;
  const watch = client.resource(podResource).watch({ resourceVersion, signal: stopping.signal });
  const [there, ready] = [new Set<string>(), new Set<string>()];
  const usage = process.cpuUsage();
  const start = performance.now();
  const since = () => performance.now() - start;
  let made = Number.NaN;
  await begin();
  for await (const { type, object } of watch as AsyncIterable<{ type: string; object: Pod }>) {
    if (type === 'BOOKMARK') continue;
    there.add(object.metadata.name);
    if (Number.isNaN(made) && there.size === count) made = since();
    if (podReady(object)) ready.add(object.metadata.name);
    if (ready.size === count) break;
  }
  stopping.abort();
  const { user, system } = process.cpuUsage(usage);
  return { made, ready: since(), cpu: (user + system) / 1000 };
}

/** Returns a pod template with one container that requests nothing. */
export const template = (labels: Readonly<Record<string, string>>) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
});
