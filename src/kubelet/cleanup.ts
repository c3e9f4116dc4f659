/** Undoes what node agents did on this machine: for `reset`, and for tests. Not while an agent runs. */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodFiles } from './pod-files.ts';
import type { ContainerRuntime } from './runtime/runtime.ts';

/** Removes every container of the runtime's owner, then the pods' files with what is mounted there. Idempotent. */
export async function cleanupKubelet(
  runtime: ContainerRuntime,
  files: PodFiles,
  dataDir: string,
): Promise<void> {
  for (const { id } of await runtime.list()) await runtime.remove(id);
  const uids = await readdir(join(dataDir, 'pods')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const uid of uids) await files.remove(uid);
  await rm(join(dataDir, 'checkpoint.json'), { force: true });
}
