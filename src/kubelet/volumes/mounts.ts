/**
 * Mounts of this machine below a directory. The directory's real path is used, because the kernel lists
 * mounts by their real paths.
 */
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Exec } from '../../os/exec.ts';

/**
 * Returns the mount points at and below a directory, outer ones first; a path with several mounts appears
 * once for each.
 */
export async function mountsUnder(directory: string): Promise<readonly string[]> {
  const points = (await mounts()).map(({ point }) => point);
  const real = await realPathOf(directory, points);
  return points.filter((point) => point === real || (real !== undefined && point.startsWith(`${real}/`)));
}

export async function isMountPoint(path: string): Promise<boolean> {
  const points = (await mounts()).map(({ point }) => point);
  const real = await realPathOf(path, points);
  return real !== undefined && points.includes(real);
}

/**
 * Returns the mount points whose files another machine or process serves. A call to such a file system does
 * not return while its server is unreachable.
 */
export async function servedMountPoints(): Promise<readonly string[]> {
  return (await mounts()).filter(({ type }) => servedTypes.test(type)).map(({ point }) => point);
}

const servedTypes = /^(?:nfs4?|cifs|smb3|ceph|9p|glusterfs|fuse(?:\..+)?)$/;

async function mounts(): Promise<readonly { readonly point: string; readonly type: string }[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => {
    const [, point = '', type = ''] = line.split(' ');
    return { point: unescapeMountPoint(point), type };
  });
}

/**
 * Returns the path by which the kernel lists mounts; undefined where nothing is. A mount point itself is not
 * accessed, since the call would not return while its server is unreachable.
 */
async function realPathOf(path: string, points: readonly string[]): Promise<string | undefined> {
  const parent = await realPathIfThere(dirname(path));
  const own = parent === undefined ? undefined : join(parent, basename(path));
  return own === undefined || points.includes(own) ? own : realPathIfThere(path);
}

const realPathIfThere = (path: string): Promise<string | undefined> =>
  realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

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
