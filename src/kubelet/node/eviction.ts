/**
 * Evicts pods while the node is short of memory or disk, one at a time: after each eviction the next
 * heartbeat checks whether the node has enough now. When disk is short, images that were pulled for pods and
 * are unused are removed first.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { Exec } from '../../os/exec.ts';
import type { ImageGc } from '../images/image-gc.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { GroupReader } from '../usage/group-reader.ts';
import { readWritableLayer } from '../usage/layers.ts';
import { directoryUsage } from '../volumes/directory-usage.ts';
import type { PodFiles } from '../volumes/pod-files.ts';
import { type EvictionCandidate, evictable, evictionOf, evictionOrder } from './plan/eviction-order.ts';
import type { Shortage } from './plan/eviction-thresholds.ts';

export interface EvictionOptions {
  readonly workers: PodWorkers;
  readonly cache: RuntimeCache;
  readonly files: PodFiles;
  readonly images: Pick<ImageGc, 'freeAll'>;
  /** Memory that containers use. */
  readonly groups: GroupReader;
  readonly exec: Exec;
  readonly events: EventRecorder;
  readonly log: Logger;
}

export class Eviction {
  readonly #options: EvictionOptions;
  #busy = false;

  constructor(options: EvictionOptions) {
    this.#options = options;
  }

  /**
   * Evicts one pod for the first shortage that an eviction can relieve, unless an eviction is in progress.
   */
  consider(shortages: readonly Shortage[]): void {
    // Memory comes first: nothing works without it. A shortage of PIDs evicts nothing, because the number of
    // processes of each pod is not known.
    const shortage =
      shortages.find(({ pressure }) => pressure === 'MemoryPressure') ??
      shortages.find(({ pressure }) => pressure === 'DiskPressure');
    if (!shortage || this.#busy) return;
    const { log } = this.#options;
    this.#busy = true;
    this.#evictOne(shortage)
      .catch((error) => log.error('cannot evict a pod', { error: errorMessage(error) }))
      .finally(() => {
        this.#busy = false;
      });
  }

  async #evictOne(shortage: Shortage): Promise<void> {
    const { workers, log } = this.#options;
    if (shortage.pressure === 'DiskPressure' && (await this.#freeImages()) > 0) return;
    const candidates = await Promise.all(
      evictable(workers.pods()).map(
        async (pod): Promise<EvictionCandidate> => ({
          pod,
          usage: await this.#usageOf(pod, shortage),
        }),
      ),
    );
    const [first] = evictionOrder(candidates, shortage);
    const { resource, available, threshold } = shortage;
    if (!first) {
      log.warn('this node is below an eviction threshold, but no pod can be evicted', {
        resource,
        available,
        threshold,
      });
      return;
    }
    const { metadata } = first.pod;
    const end = evictionOf(first, shortage);
    log.warn('evicting a pod', { pod: `${metadata.namespace}/${metadata.name}`, why: end.message });
    await workers.end(metadata.uid, end);
  }

  /** Resolves with the number of bytes that were freed. */
  async #freeImages(): Promise<number> {
    try {
      return await this.#options.images.freeAll();
    } catch (error) {
      this.#options.log.warn('cannot free the disk of images', { error: errorMessage(error) });
      return 0;
    }
  }

  /** Returns the usage by container name; undefined when nothing of the pod can be measured. */
  async #usageOf(pod: Pod, { resource }: Shortage): Promise<ReadonlyMap<string, number> | undefined> {
    const usage = new Map<string, number>();
    const { containers } = this.#options.cache.observe(pod.metadata.uid);
    const running = containers.filter(({ state }) => state === 'running');
    const usedBy = async (container: ContainerState) =>
      resource === 'memory'
        ? (await this.#options.groups.memory(container))?.workingSet
        : this.#diskOf(container.pid, resource);
    for (const container of running) {
      const used = await usedBy(container);
      if (used !== undefined) usage.set(container.name, used);
    }
    if (resource !== 'memory') {
      // Volumes belong to the pod: they count with its first container, as no container requests space for
      // them alone.
      const own = await this.#countBelow(this.#options.files.directory(pod.metadata.uid), resource);
      const [first] = pod.spec.containers;
      if (first && own !== undefined) usage.set(first.name, (usage.get(first.name) ?? 0) + own);
    }
    return usage.size > 0 ? usage : undefined;
  }

  async #diskOf(pid: number, resource: Shortage['resource']): Promise<number | undefined> {
    const layer = await readWritableLayer(pid);
    return layer === undefined ? undefined : this.#countBelow(layer, resource);
  }

  #countBelow(directory: string, resource: Shortage['resource']): Promise<number | undefined> {
    return directoryUsage(this.#options, directory, resource === 'inodes' ? 'inodes' : 'bytes');
  }
}
