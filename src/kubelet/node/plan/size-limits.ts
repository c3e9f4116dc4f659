/** What a pod may have on the disk of this machine, and how it ends when it has more (upstream: localStorageEviction). */
import type { Pod } from '../../../api/core/v1/pod.ts';
import { amounts } from '../../../api/core/v1/pod-requests.ts';
import { formatQuantity, parseQuantity } from '../../../apimachinery/quantity.ts';
import { evictedReason, type PodEnd } from '../../pods/plan/actions.ts';

const storage = 'ephemeral-storage';

const evicted = (signal: string, message: string): PodEnd => ({
  reason: evictedReason,
  message,
  signal,
  gracePeriodSeconds: 1,
  disruption: false,
});

/** How a pod ends when a volume exceeds its sizeLimit. */
export const sizeLimitExceeded = (volume: string, sizeLimit: string): PodEnd =>
  evicted('emptydirfs.limit', `Usage of EmptyDir volume "${volume}" exceeds the limit "${sizeLimit}". `);

/** In bytes. */
export interface StorageUse {
  /** What containers wrote into their own file system and their logs, by name. */
  readonly containers: ReadonlyMap<string, number>;
  /** The pod's own files and its volumes on disk. */
  readonly own: number;
}

const limitOf = ({ resources }: Pod['spec']['containers'][number]) =>
  amounts(resources.limits).get(storage) ?? 0;

/** Whether it is worth measuring. */
export const hasStorageLimit = ({ spec }: Pod) => spec.containers.some((container) => limitOf(container) > 0);

/** Undefined while the pod keeps to its limits. All its containers together may have what those with a limit may. */
export function storageLimitExceeded(pod: Pod, { containers, own }: StorageUse): PodEnd | undefined {
  if (!hasStorageLimit(pod)) return undefined;
  const all = pod.spec.containers;
  const together = all.reduce((sum, container) => sum + limitOf(container), 0);
  const used = [...containers.values()].reduce((sum, bytes) => sum + bytes, own);
  if (used > together) {
    const text = sumText(all.flatMap(({ resources }) => resources.limits?.[storage] ?? []));
    return evicted(
      'ephemeralpodfs.limit',
      `Pod ephemeral local storage usage exceeds the total limit of containers ${text}. `,
    );
  }
  for (const container of all) {
    const limit = limitOf(container);
    if (limit <= 0 || (containers.get(container.name) ?? 0) <= limit) continue;
    const text = container.resources.limits?.[storage];
    return evicted(
      'ephemeralcontainerfs.limit',
      `Container ${container.name} exceeded its local ephemeral storage limit "${text}". `,
    );
  }
  return undefined;
}

function sumText(texts: readonly string[]): string {
  const all = texts.map(parseQuantity);
  const [first = parseQuantity('0')] = all;
  return formatQuantity({ ...first, nano: all.reduce((sum, { nano }) => sum + nano, 0n) });
}
