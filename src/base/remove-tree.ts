/** Removing a directory whose content others chose: of any size and depth. */
import type { Exec } from './exec.ts';

/**
 * Removes what is at the path, if anything; rejects with ExecError when something stays. `rm` of coreutils goes from
 * directory to directory by descriptors, so no path in it is too long for it, and its work is not this process's: Node's
 * own holds the event loop, and memory, in proportion to the entries. It does not go into another file system; what is
 * bound there from the same one it cannot tell, so that has to be unmounted before.
 */
export async function removeTree(path: string, exec: Exec, signal?: AbortSignal): Promise<void> {
  await exec('rm', ['-rf', '--one-file-system', '--', path], { lengthy: true, signal });
}
