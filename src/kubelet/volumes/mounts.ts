/**
 * Mounts of this machine below a directory. The directory's real path is used, because the kernel lists
 * mounts by their real paths.
 */
import { readFile, realpath } from 'node:fs/promises';
import type { Exec } from '../../os/exec.ts';

/**
 * Returns the mount points at and below a directory, outer ones first; a path with several mounts appears
 * once for each.
 */
export async function mountsUnder(directory: string): Promise<readonly string[]> {
  const real = await realpath(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (real === undefined) return [];
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const points = lines.map((line) => unescapeMountPoint(line.split(' ')[1] ?? ''));
  return points.filter((point) => point === real || point.startsWith(`${real}/`));
}

export const isMountPoint = async (path: string) =>
  (await mountsUnder(path)).includes(await realpath(path).catch(() => path));

/**
 * Unmounts everything at and below a directory. This must happen before the directory is removed, because the
 * content of bind mounts belongs to others. Rejects when a mount remains.
 */
export async function unmountUnder(directory: string, exec: Exec): Promise<void> {
  for (const point of (await mountsUnder(directory)).toReversed()) await exec('umount', [point]);
  const [left] = await mountsUnder(directory);
  if (left !== undefined) throw new Error(`${left} is still a mount point`);
}

/** Decodes a mount point: the kernel writes blanks and similar characters in octal. */
const unescapeMountPoint = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
