/** Waits for pods by a watch, and for the removal of their containers. */
import { type Pod, podResource } from '../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../src/client/client.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { dockerApi } from './docker-api.ts';

const isReady = (pod: Pod) =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Resolves when `count` pods with that label are ready, or, with 0, when no pod is left; uses a watch. */
export async function untilPods(client: Client, app: string, count: number): Promise<void> {
  const stop = new AbortController();
  const pods = client.resource(podResource);
  const scope = { namespace: 'default', labelSelector: `app=${app}` };
  const { items, metadata } = await pods.list(scope);
  const present = new Map(items.map((pod) => [pod.metadata.name, isReady(pod)]));
  const reached = () =>
    count === 0 ? present.size === 0 : [...present.values()].filter((ready) => ready).length >= count;
  if (reached()) return;
  try {
    const { resourceVersion } = metadata;
    for await (const { type, object } of pods.watch({ ...scope, resourceVersion, signal: stop.signal })) {
      if (type === 'DELETED') present.delete(object.metadata.name);
      else if (type !== 'BOOKMARK') present.set(object.metadata.name, isReady(object));
      if (reached()) return;
    }
  } finally {
    stop.abort();
  }
}

/** Pods without a grace period are removed from the API before their containers are removed. */
export async function untilNoContainers(app: string): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ name: [`^/k8s_[^_]+_${app}[-_]`] }));
  const gone = async () =>
    (await dockerApi<unknown[]>('GET', `/containers/json?all=1&filters=${filters}`)).length === 0;
  await waitFor(`the containers of ${app} gone`, gone, { timeoutMs: 120_000, intervalMs: 200 });
}
