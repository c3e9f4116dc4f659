/** Places where something is mounted as long as the agent itself has to do with it. */
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Exec } from '../../base/exec.ts';
import { found } from './entries.ts';
import { unmountUnder } from './mounts.ts';

/** Mounts at the target, and unmounts when `use` has ended. What an earlier attempt left there is unmounted before. */
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
    // Refuses what is not empty: only a mount point is ever removed.
    await rmdir(target);
  }
}
