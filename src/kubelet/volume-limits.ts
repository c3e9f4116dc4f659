/**
 * Ends pods whose emptyDirs on disk have outgrown their sizeLimit. The kernel has no limit for a directory, so it is
 * looked at each heartbeat, as upstream's eviction manager does; those in memory cannot grow beyond theirs.
 */
import { isTerminalPhase } from '../api/core/v1/pod-conditions.ts';
import type { Exec } from '../base/exec.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { directoryUsage } from './directory-usage.ts';
import { limitedVolumes, sizeLimitExceeded } from './plan/volumes.ts';
import type { PodFiles } from './pod-files.ts';
import type { PodWorkers } from './pod-workers.ts';

export interface VolumeLimitsOptions {
  readonly workers: Pick<PodWorkers, 'pods' | 'end'>;
  readonly files: Pick<PodFiles, 'directory'>;
  readonly exec: Exec;
  readonly log: Logger;
}

export class VolumeLimits {
  readonly #options: VolumeLimitsOptions;
  #looking: Promise<void> | undefined;

  constructor(options: VolumeLimitsOptions) {
    this.#options = options;
  }

  /** Never rejects; one look at a time. */
  enforce(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error) =>
        this.#options.log.error('cannot enforce the size limits of volumes', { error: errorMessage(error) }),
      )
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { workers, files, log } = this.#options;
    for (const pod of workers.pods()) {
      if (pod.metadata.deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase)) continue;
      for (const { name, limitBytes, sizeLimit, path } of limitedVolumes(
        pod,
        files.directory(pod.metadata.uid),
      )) {
        const used = await directoryUsage(this.#options, path, 'bytes');
        if (used === undefined || used <= limitBytes) continue;
        const end = sizeLimitExceeded(name, sizeLimit);
        const { namespace, name: podName, uid } = pod.metadata;
        log.warn('evicting a pod', { pod: `${namespace}/${podName}`, why: end.message });
        void workers.end(uid, end);
        break;
      }
    }
  }
}
