/** Removal of a directory with untrusted content, of any size and depth. */
import type { Exec } from './exec.ts';

/**
 * Removes the path, if it exists; rejects with ExecError when something is left. `rm` of coreutils walks
 * directories by file descriptor, so that no path is too long for it, and it works in another process: Node's
 * own function blocks the event loop, and uses memory, in proportion to the entries. `rm` does not enter
 * other file systems. It cannot detect a bind mount from the same file system, which must be unmounted
 * before.
 */
export async function removeTree(path: string, exec: Exec, signal?: AbortSignal): Promise<void> {
  await exec('rm', ['-rf', '--one-file-system', '--', path], { lengthy: true, signal });
}
