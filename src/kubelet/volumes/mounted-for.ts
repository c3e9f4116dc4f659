/** Mounts that last only as long as the agent itself uses them. */
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Exec } from '../../os/exec.ts';
import { found } from './entries.ts';
import { unmountUnder } from './mounts.ts';

/**
 * Mounts at the target, runs `use`, and unmounts afterwards. A mount that an earlier attempt left is
 * unmounted first.
 */
export async function mountedFor<T>(
  target: string,
  exec: Exec,
  mount: () => Promise<unknown>,
  use: () => Promise<T>,
): Promise<T> {
  await unmountUnder(target, exec);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  if (!(await found(target))) await mkdir(target, { mode: 0o700 });
  try {
    await mount();
    return await use();
  } finally {
    await unmountUnder(target, exec);
    // Fails for a directory that is not empty: only a mount point is ever removed.
    await rmdir(target);
  }
}
