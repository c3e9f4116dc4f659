/** The disk space that a pod uses on this machine, as far as it is freed with the pod. */

import type { Logger } from '../../base/log.ts';
import type { Exec } from '../../os/exec.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import { readLogSize, readWritableLayer } from '../usage/layers.ts';
import { directoryUsage } from '../volumes/directory-usage.ts';
import type { PodFiles } from '../volumes/pod-files.ts';
import type { StorageUse } from './plan/size-limits.ts';

export interface PodStorageOptions {
  readonly cache: Pick<RuntimeCache, 'observe'>;
  readonly files: Pick<PodFiles, 'directory'>;
  /** Directory in which the engine keeps the logs of containers; undefined while it is not known. */
  readonly engineDirectory: () => string | undefined;
  readonly exec: Exec;
  readonly log: Logger;
}

/**
 * Measures the running containers; the files of a dead container are freed with it. Usage that cannot be
 * measured counts as zero.
 */
export async function podStorage(options: PodStorageOptions, uid: string): Promise<StorageUse> {
  const engine = options.engineDirectory();
  const running = options.cache.observe(uid).containers.filter(({ state }) => state === 'running');
  const containers = new Map<string, number>();
  for (const { name, id, pid } of running) {
    const written = await bytesIn(options, await readWritableLayer(pid));
    const logs = engine === undefined ? undefined : await readLogSize(engine, id);
    containers.set(name, written + (logs?.bytes ?? 0));
  }
  return { containers, own: await bytesIn(options, options.files.directory(uid)) };
}

const bytesIn = async (options: PodStorageOptions, place: string | undefined): Promise<number> =>
  place === undefined ? 0 : ((await directoryUsage(options, place, 'bytes')) ?? 0);
