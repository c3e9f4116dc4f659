/** Scratch directories, for unencrypted copies of what a backup contains. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '../os/replace-file.ts';

const scratchName = /^backup-scratch-(\d+)-\d+$/;

/** Returns true for the name of a scratch directory. */
export const isScratch = (name: string): boolean => scratchName.test(name);

let made = 0;

/**
 * Calls `work` with a new directory, which only its owner can enter, and removes it afterwards. Removes those
 * of processes that were killed as well.
 */
export async function withScratch<T>(parent: string, work: (directory: string) => Promise<T>): Promise<T> {
  await removeLeftScratch(parent);
  const directory = join(parent, `backup-scratch-${process.pid}-${made++}`);
  await mkdir(directory, { mode: 0o700 });
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function removeLeftScratch(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = scratchName.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(parent, name), { recursive: true, force: true });
  }
}
