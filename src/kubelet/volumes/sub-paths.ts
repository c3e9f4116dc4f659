/**
 * A part of a volume as a mount of its own, so that a container can be given it and nothing else. Containers write into
 * volumes while this looks at them, and the engine would follow whatever link it finds when it starts one. So a path is
 * walked step by step without following links, and what is bound is the very file that was found at its end, by its
 * descriptor (upstream: pkg/volume/util/subpath).
 *
 * The mounts lie in a directory of their own, which nothing but rmdir and unlink is used on: these refuse what is still
 * mounted, and so can never empty what belongs to somebody else.
 */
import {
  chmod,
  constants,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Exec } from '../../base/exec.ts';
import { isMountPoint, unmountUnder } from './mounts.ts';

/** Of open(2): only to say which file is meant. Node has no name for it. */
const onlyPath = 0o10000000;
const { O_NOFOLLOW } = constants;

export interface SubPath {
  /** The volume on this machine. */
  readonly volumePath: string;
  /** Relative, without `..`. */
  readonly subPath: string;
  /** Where it is to be mounted. */
  readonly target: string;
}

/**
 * Mounts a part of a volume; a directory that is not there is made, with the mode of the volume. What was mounted at
 * the target before is replaced. Rejects for a path that is not, or not any more, within the volume.
 */
export async function mountSubPath({ volumePath, subPath, target }: SubPath, exec: Exec): Promise<void> {
  await using file = await openWithin(await realpath(volumePath), subPath);
  const found = await file.stat();
  while (await isMountPoint(target)) await exec('umount', [target]);
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  await makeMountPoint(target, found.isDirectory());
  // The name of the descriptor leads to the file that was found, wherever its path leads by now.
  await exec('mount', ['--no-canonicalize', '--bind', pathOf(file), target]);
  const mounted = await stat(target);
  if (mounted.dev === found.dev && mounted.ino === found.ino) return;
  await exec('umount', [target]);
  throw new Error(`${target}: the mounted file is not ${subPath} of ${volumePath}`);
}

/**
 * The kernel binds directories to directories, anything else to a file. A container may have made one of the other
 * since it last started, so what is left of the mount before it may have to go.
 */
async function makeMountPoint(target: string, isDirectory: boolean): Promise<void> {
  const left = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (left?.isDirectory() === isDirectory) return;
  if (left) await (left.isDirectory() ? rmdir(target) : unlink(target));
  if (isDirectory) await mkdir(target, { mode: 0o750 });
  else await writeFile(target, '', { mode: 0o640, flag: 'wx' });
}

/** Unmounts everything below a directory of such mounts and removes it. */
export async function removeMountPoints(directory: string, exec: Exec): Promise<void> {
  await unmountUnder(directory, exec);
  await removeEmptied(directory);
}

async function removeEmptied(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!entries) return;
  for (const entry of entries) {
    if (entry.isDirectory()) await removeEmptied(join(path, entry.name));
    else await unlink(join(path, entry.name));
  }
  await rmdir(path);
}

/** Leads to the open file, wherever its path leads by now. */
export const pathOf = (file: FileHandle) => `/proc/${process.pid}/fd/${file.fd}`;

/** The file at a path within `base`, which is no link; missing directories are made. */
async function openWithin(base: string, subPath: string): Promise<FileHandle> {
  const wanted = subPath.split('/').filter((part) => part !== '' && part !== '.');
  const { existing, missing } = await resolveWithin(base, wanted);
  const mode = (await stat(base)).mode & 0o7777;
  let file = await open(base, onlyPath | O_NOFOLLOW);
  try {
    for (const part of existing) file = await step(file, part);
    for (const part of missing) {
      await mkdir(join(pathOf(file), part));
      file = await step(file, part);
      if (!(await file.stat()).isDirectory())
        throw new Error(`${part} of ${subPath} is no longer a directory`);
      // Of the file that is open: mkdir takes the umask off.
      await chmod(pathOf(file), mode);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The directory at an absolute path, in which no part is a link; undefined where nothing is. Rejects where a part is one. */
export async function openDirectory(path: string): Promise<FileHandle | undefined> {
  let file = await open('/', onlyPath | O_NOFOLLOW);
  try {
    for (const part of path.split('/').filter((one) => one !== '' && one !== '.'))
      file = await step(file, part, 'is a symbolic link');
    if (!(await file.stat()).isDirectory()) throw new Error(`${JSON.stringify(path)} is not a directory`);
    return file;
  } catch (error) {
    await file.close();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens an entry of an open directory, closes the directory; a link is refused. */
async function step(
  directory: FileHandle,
  name: string,
  isLink = 'was replaced by a symbolic link',
): Promise<FileHandle> {
  const file = await open(join(pathOf(directory), name), onlyPath | O_NOFOLLOW);
  if ((await file.stat()).isSymbolicLink()) {
    await file.close();
    throw new Error(`${name} ${isLink}`);
  }
  await directory.close();
  return file;
}

/**
 * Links that lead to another place of the same volume are good: they are resolved here, and what comes of it is walked
 * without any. The longest part of the path that exists decides; the rest is to be made.
 */
async function resolveWithin(
  base: string,
  wanted: readonly string[],
): Promise<{ readonly existing: readonly string[]; readonly missing: readonly string[] }> {
  for (let length = wanted.length; length >= 0; length--) {
    const real = await realpath(join(base, ...wanted.slice(0, length))).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      },
    );
    if (real === undefined) continue;
    const inside = relative(base, real);
    if (inside === '..' || inside.startsWith('../'))
      throw new Error(`${wanted.join('/')} is outside of the volume`);
    return { existing: inside.split('/').filter((part) => part !== ''), missing: wanted.slice(length) };
  }
  throw new Error(`${base} no longer exists`);
}
