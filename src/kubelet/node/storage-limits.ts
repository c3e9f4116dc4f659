/**
 * Ends pods whose emptyDirs on disk exceed their sizeLimit, or that use more disk than their
 * ephemeral-storage limits allow. The kernel has no limit for a directory, so the directories are measured at
 * each heartbeat, as upstream's eviction manager does; volumes in memory cannot exceed their limits. Critical
 * pods are not ended.
 */

import { isTerminalPhase } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Exec } from '../../os/exec.ts';
import type { PodEnd } from '../pods/plan/actions.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { directoryUsage } from '../volumes/directory-usage.ts';
import { limitedVolumes } from '../volumes/plan/volumes.ts';
import type { PodFiles } from '../volumes/pod-files.ts';
import { isCritical } from './plan/eviction-order.ts';
import {
  hasStorageLimit,
  type StorageUse,
  sizeLimitExceeded,
  storageLimitExceeded,
} from './plan/size-limits.ts';

export interface StorageLimitsOptions {
  readonly workers: Pick<PodWorkers, 'pods' | 'end'>;
  readonly files: Pick<PodFiles, 'directory'>;
  /** Returns the disk space that a pod uses. */
  readonly usage: (uid: string) => Promise<StorageUse>;
  readonly exec: Exec;
  readonly log: Logger;
}

export class StorageLimits {
  readonly #options: StorageLimitsOptions;
  #looking: Promise<void> | undefined;

  constructor(options: StorageLimitsOptions) {
    this.#options = options;
  }

  /** Never rejects; only one check runs at a time. */
  enforce(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error) =>
        this.#options.log.error('cannot enforce the limits of disk space', { error: errorMessage(error) }),
      )
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { workers, log } = this.#options;
    for (const pod of workers.pods()) {
      if (pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase)) continue;
      if (isCritical(pod)) continue;
      const end = (await this.#volumeExcess(pod)) ?? (await this.#storageExcess(pod));
      if (!end) continue;
      const { namespace, name, uid } = pod.metadata;
      log.warn('evicting a pod', { pod: `${namespace}/${name}`, why: end.message });
      void workers.end(uid, end);
    }
  }

  async #volumeExcess(pod: Pod): Promise<PodEnd | undefined> {
    const directory = this.#options.files.directory(pod.metadata.uid);
    for (const { name, limitBytes, sizeLimit, path } of limitedVolumes(pod, directory)) {
      const used = await directoryUsage(this.#options, path, 'bytes');
      if (used !== undefined && used > limitBytes) return sizeLimitExceeded(name, sizeLimit);
    }
    return undefined;
  }

  async #storageExcess(pod: Pod): Promise<PodEnd | undefined> {
    if (!hasStorageLimit(pod)) return undefined;
    return storageLimitExceeded(pod, await this.#options.usage(pod.metadata.uid));
  }
}
