/**
 * Marks of hooks that have completed: one file each in the pod's directory, so that they are also known after
 * the agent was killed.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HookKey, type HookName, hookKey } from './plan/hooks.ts';

const below = 'hooks';
const names: readonly HookName[] = ['postStart', 'preStop'];

/** Returns the marks of all containers of one pod. */
export async function readHookMarks(podDirectory: string): Promise<ReadonlySet<string>> {
  const found = await readdir(join(podDirectory, below)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return new Set(found);
}

export async function writeHookMark(podDirectory: string, key: HookKey): Promise<void> {
  await mkdir(join(podDirectory, below), { recursive: true, mode: 0o700 });
  await writeFile(join(podDirectory, below, key), '');
}

/** Removes the marks of a container that is gone. */
export async function removeHookMarks(podDirectory: string, id: string): Promise<void> {
  await Promise.all(names.map((name) => rm(join(podDirectory, below, hookKey(id, name)), { force: true })));
}
