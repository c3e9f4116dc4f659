/** samples/hello on a cluster: the starting point of several tests. */
import { join } from 'node:path';
import type { V1Pod, V1PodList, V1Service } from '@kubernetes/client-node';
import { systemExec } from '../../../src/os/exec.ts';
import type { Cluster } from './cluster.ts';
import { waitFor } from './wait-for.ts';

const samples = join(import.meta.dirname, '../../../samples/hello');

export async function deployHello({ kubectl }: Pick<Cluster, 'kubectl'>): Promise<void> {
  await kubectl('apply', '-f', samples);
}

export async function deleteHello({ kubectl }: Cluster): Promise<void> {
  await kubectl('delete', '-f', samples, '--wait=true', '--timeout=60s');
}

/**
 * Resolves to the pods of hello that are not being deleted, once there are exactly `count` and all are ready.
 */
export function readyPods(
  { kubectl }: Pick<Cluster, 'kubectl'>,
  count: number,
  timeoutMs = 60_000,
): Promise<V1Pod[]> {
  return waitFor(
    `${count} ready pods of hello`,
    async () => {
      const { items } = await kubectl.json<V1PodList>('get', 'pods', '-l', 'app=hello');
      const pods = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      return pods.length === count && pods.every(isReady) && pods;
    },
    { timeoutMs },
  );
}

export function isReady({ status }: V1Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

export function nameOf({ metadata }: V1Pod): string {
  if (metadata?.name === undefined) throw new Error('a pod without a name');
  return metadata.name;
}

export function restartsOf({ status }: V1Pod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

export function service({ kubectl }: Cluster): Promise<V1Service> {
  return kubectl.json<V1Service>('get', 'service', 'hello');
}

/**
 * Returns the page at an address such as `10.96.0.20:80`, requested from this machine over a new connection.
 */
export async function page(address: string): Promise<string> {
  const { stdout } = await systemExec('curl', ['-sS', '--max-time', '2', `http://${address}/`]);
  return stdout.trim();
}

/**
 * Requests the page until every pod has answered and no other pod has meanwhile: a deleted pod may answer a
 * moment longer.
 */
export async function everyPodAnswers(address: string, pods: readonly V1Pod[]): Promise<void> {
  const expected = new Set(pods.map((pod) => `hello from ${nameOf(pod)}`));
  const seen = new Set<string>();
  await waitFor(`an answer from each of ${[...expected].join(', ')} and no other`, async () => {
    const answer = await page(address);
    if (expected.has(answer)) seen.add(answer);
    else seen.clear();
    return seen.size === expected.size;
  });
}
