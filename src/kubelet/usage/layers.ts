/** The places on this machine where the files and the log of a container are stored. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from './kernel-text.ts';
import { overlayUpper } from './plan/kernel-files.ts';

/**
 * Returns the writable directory of the process's container; undefined when it has no overlay, or is gone.
 */
export async function readWritableLayer(pid: number, root = '/'): Promise<string | undefined> {
  return overlayUpper((await readIfThere(join(root, `proc/${pid}/mountinfo`))) ?? '');
}

/**
 * Returns the bytes and the number of files of a container's log, including rotated ones; undefined when
 * there is no readable log.
 */
export async function readLogSize(
  engineDirectory: string,
  id: string,
): Promise<{ readonly bytes: number; readonly inodes: number } | undefined> {
  const directory = join(engineDirectory, 'containers', id);
  try {
    const names = (await readdir(directory)).filter((name) => name.startsWith(`${id}-json.log`));
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(directory, name))).blocks * 512),
    );
    if (sizes.length === 0) return undefined;
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), inodes: sizes.length };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') return undefined;
    throw error;
  }
}
