/**
 * The limits of a pod's disk usage on this machine, and the pod's end when it exceeds them (upstream:
 * localStorageEviction).
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { amounts } from '../../../api/core/v1/pod/requests.ts';
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

/** Returns the pod's end when a volume exceeds its sizeLimit. */
export const sizeLimitExceeded = (volume: string, sizeLimit: string): PodEnd =>
  evicted('emptydirfs.limit', `Usage of EmptyDir volume "${volume}" exceeds the limit "${sizeLimit}". `);

/** Disk usage of a pod, in bytes. */
export interface StorageUse {
  /** Bytes that containers wrote into their own file system and their logs, by container name. */
  readonly containers: ReadonlyMap<string, number>;
  /** Bytes of the pod's own files and its volumes on disk. */
  readonly own: number;
}

const limitOf = ({ resources }: Pod['spec']['containers'][number]) =>
  amounts(resources.limits).get(storage) ?? 0;

/** Returns true when a container of the pod has a limit, so that its usage must be measured. */
export const hasStorageLimit = ({ spec }: Pod) => spec.containers.some((container) => limitOf(container) > 0);

/**
 * Returns the pod's end when it exceeds its limits; undefined otherwise. All containers together may use the
 * sum of the limits that are set.
 */
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
