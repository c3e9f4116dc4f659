/** Scratch directories, for unencrypted copies of what a backup contains. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '../os/replace-file.ts';

const scratchName = /^backup-scratch-(\d+)-\w+$/;

/** Returns true for the name of a scratch directory. */
export const isScratch = (name: string): boolean => scratchName.test(name);

/** Directories of this process. */
const own = new Set<string>();

/**
 * Calls `work` with a new directory, which only its owner can enter, and removes it afterwards. Also removes
 * the directories that killed processes have left. `otherwise`: the parent if nothing can be written to the
 * first.
 */
export async function withScratch<T>(
  parent: string,
  work: (directory: string) => Promise<T>,
  otherwise = parent,
): Promise<T> {
  const directory = await newScratch(parent).catch((error) => {
    if (otherwise === parent) throw error;
    return newScratch(otherwise);
  });
  own.add(directory);
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
    own.delete(directory);
  }
}

async function newScratch(parent: string): Promise<string> {
  await removeLeftScratch(parent);
  return mkdtemp(join(parent, `backup-scratch-${process.pid}-`));
}

async function removeLeftScratch(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = scratchName.exec(name)?.[1];
    const path = join(parent, name);
    // The id of a killed process may be that of this one.
    const isUsed = Number(pid) === process.pid ? own.has(path) : isRunning(Number(pid));
    if (pid !== undefined && !isUsed) await rm(path, { recursive: true, force: true });
  }
}
