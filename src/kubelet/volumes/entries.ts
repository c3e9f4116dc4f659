/** Entries of directories whose content others chose. */
import { lstat, unlink } from 'node:fs/promises';
import type { Exec } from '../../base/exec.ts';
import { removeTree } from '../../base/remove-tree.ts';
import { unmountUnder } from './mounts.ts';

/** What is at the path itself, not what it leads to; undefined where nothing is. */
export const found = (path: string) =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** Removes it with all that is in it, after unmounting what is mounted there; of a link the link alone. */
export async function removeEntry(path: string, exec: Exec, signal: AbortSignal): Promise<void> {
  const entry = await found(path);
  if (!entry) return;
  if (!entry.isDirectory()) return unlink(path);
  await unmountUnder(path, exec);
  await removeTree(path, exec, signal);
}
