/**
 * Mounts a part of a volume separately, so that a container can be given that part and nothing else.
 * Containers write into volumes meanwhile, and the engine would follow any link that it finds when it starts
 * one. A path is therefore walked step by step without following links, and the file found at its end is
 * bind-mounted by its descriptor (upstream: pkg/volume/util/subpath).
 *
 * The mounts are in a directory of their own, on which only rmdir and unlink are used: these fail on anything
 * that is still mounted, and so can never empty a directory of others.
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
import type { Exec } from '../../os/exec.ts';
import { isMountPoint, unmountUnder } from './mounts.ts';

/** O_PATH of open(2): opens a file only to identify it. Node has no name for this flag. */
const onlyPath = 0o10000000;
const { O_NOFOLLOW } = constants;

export interface SubPath {
  /** Path of the volume on this machine. */
  readonly volumePath: string;
  /** Relative path without `..`. */
  readonly subPath: string;
  /** Path of the mount. */
  readonly target: string;
}

/**
 * Mounts a part of a volume; a missing directory is created with the mode of the volume. A mount that was at
 * the target before is replaced. Rejects for a path that is not, or no longer, within the volume.
 */
export async function mountSubPath({ volumePath, subPath, target }: SubPath, exec: Exec): Promise<void> {
  await using file = await openWithin(await realpath(volumePath), subPath);
  const found = await file.stat();
  while (await isMountPoint(target)) await exec('umount', [target]);
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  await makeMountPoint(target, found.isDirectory());
  // The descriptor's name leads to the file that was found, even if its path leads elsewhere by now.
  await exec('mount', ['--no-canonicalize', '--bind', pathOf(file), target]);
  const mounted = await stat(target);
  if (mounted.dev === found.dev && mounted.ino === found.ino) return;
  await exec('umount', [target]);
  throw new Error(`${target}: the mounted file is not ${subPath} of ${volumePath}`);
}

/**
 * Creates a mount point. The kernel binds directories to directories and anything else to a file. A container
 * may have replaced one by the other since the last mount, so the old mount point may have to be removed.
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

/** Unmounts everything below a directory of such mounts and removes the directory. */
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

/** Returns a path to the open file, even if the file's own path leads elsewhere by now. */
export const pathOf = (file: FileHandle) => `/proc/${process.pid}/fd/${file.fd}`;

/** Opens the file at a path within `base`, which must not be a link; missing directories are created. */
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
      // Sets the mode of the open directory, because mkdir applies the umask.
      await chmod(pathOf(file), mode);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Opens the directory at an absolute path; undefined where it does not exist. Rejects when a part of the path
 * is a link.
 */
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

/** Opens an entry of an open directory, and closes the directory. Rejects a link. */
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
 * Resolves links that lead to another place of the same volume; the result is walked without following any.
 * The longest existing part of the path is resolved; the rest must be created.
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
