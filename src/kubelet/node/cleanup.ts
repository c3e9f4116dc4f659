/**
 * Undoes the changes of node agents on this machine, for `reset` and for tests. Must not be used while an
 * agent runs.
 */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { PodFiles } from '../volumes/pod-files.ts';

/** Removes every container of the runtime's owner, then the pods' files with their mounts. Idempotent. */
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

/**
 * Sends every container its stop signal; resolves when all have ended or the longest grace period is over;
 * the caller removes the rest.
 */
export async function stopContainers(runtime: ContainerRuntime, clock: Clock): Promise<void> {
  const running = new Set<string>();
  let graceMs = 0;
  for (const { id, kind, state } of await runtime.list()) {
    const container = kind === 'container' && state === 'running' ? await runtime.inspect(id) : undefined;
    if (container?.kind !== 'container') continue;
    running.add(id);
    graceMs = Math.max(graceMs, container.gracePeriodSeconds * 1000);
  }
  if (running.size === 0) return;
  const done = new AbortController();
  const { promise: watching, resolve: onWatching } = Promise.withResolvers<void>();
  const ended = (async () => {
    for await (const { id } of runtime.events(done.signal, onWatching)) {
      if (running.has(id) && (await runtime.inspect(id))?.state !== 'running') running.delete(id);
      if (running.size === 0) return;
    }
  })();
  try {
    await Promise.race([watching, ended]);
    await Promise.all([...running].map((id) => runtime.terminate(id)));
    await Promise.race([ended, sleep(clock, graceMs, done.signal)]);
  } finally {
    done.abort();
    await ended.catch(() => undefined);
  }
}
