/** Entries of directories whose content other programs control. */
import { lstat, unlink } from 'node:fs/promises';
import type { Exec } from '../../os/exec.ts';
import { removeTree } from '../../os/remove-tree.ts';
import { unmountUnder } from './mounts.ts';

/** Returns the entry at the path itself, without following a link; undefined where there is none. */
export const found = (path: string) =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/**
 * Removes an entry with its content, after unmounting everything below it. A link is removed without its
 * target.
 */
export async function removeEntry(path: string, exec: Exec, signal: AbortSignal): Promise<void> {
  const entry = await found(path);
  if (!entry) return;
  if (!entry.isDirectory()) return unlink(path);
  await unmountUnder(path, exec);
  await removeTree(path, exec, signal);
}
