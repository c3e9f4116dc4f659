/**
 * The files of a volume, replaced all at once: a reader finds either all old files or all new ones (upstream:
 * volume/util AtomicWriter). The files are in a directory with a unique name, the symbolic link `..data`
 * points to it, and each name in the volume is a link through `..data`; renaming one link therefore changes
 * all files.
 */
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VolumeFile } from './plan/projection.ts';

const current = '..data';
const draft = '..data_tmp';

/** Returns the directory that holds the current files. Rejects when nothing has been written yet. */
export const currentFiles = async (volume: string) => join(volume, await readlink(join(volume, current)));

/** Resolves with true when the volume holds a complete set of files from an earlier time. */
export const isFilled = (volume: string): Promise<boolean> =>
  currentFiles(volume).then(
    () => true,
    () => false,
  );

/**
 * Replaces the files; with `group` they are readable by that group. Safe to repeat after an interruption at
 * any point; repeating it with the same files changes nothing.
 */
export async function replaceFiles(
  volume: string,
  files: readonly VolumeFile[],
  group: number | undefined,
): Promise<void> {
  if (await holds(volume, files, group)) return;
  const directory = await mkdtemp(join(volume, '..files-'));
  try {
    await setDirectory(directory, group);
    for (const file of files) await writeOne(directory, file, group);
    await rm(join(volume, draft), { force: true });
    await symlink(directory.slice(volume.length + 1), join(volume, draft));
    await rename(join(volume, draft), join(volume, current));
  } catch (error) {
    // Otherwise, on a full disk, each attempt would leave more files behind.
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const names = new Set(files.map(({ path }) => path.split('/')[0] ?? ''));
  for (const name of names) await link(volume, name);
  for (const name of await readdir(volume)) {
    const isOld = name.startsWith('..')
      ? name !== current && join(volume, name) !== directory
      : !names.has(name);
    if (isOld) await rm(join(volume, name), { recursive: true, force: true });
  }
}

/**
 * Returns true when the volume has exactly these files: then nothing is written, and programs that watch it
 * are not woken.
 */
async function holds(
  volume: string,
  files: readonly VolumeFile[],
  group: number | undefined,
): Promise<boolean> {
  try {
    const directory = await currentFiles(volume);
    const found = await readdir(directory, { recursive: true, withFileTypes: true });
    if (found.filter((entry) => !entry.isDirectory()).length !== files.length) return false;
    const names = new Set(files.map(({ path }) => path.split('/')[0] ?? ''));
    if (!(await hasOnlyLinks(volume, names))) return false;
    for (const file of files) if (!(await isSame(directory, file, group))) return false;
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EINVAL') return false;
    throw error;
  }
}

/**
 * Returns true when the volume has the link to its current directory, that directory, a link for each name
 * and nothing else. An interrupted attempt leaves more or fewer entries.
 */
async function hasOnlyLinks(volume: string, names: ReadonlySet<string>): Promise<boolean> {
  const shown = await readdir(volume);
  if (shown.length !== names.size + 2) return false;
  for (const name of names) if (!(await isLinked(volume, name))) return false;
  return true;
}

async function isSame(
  directory: string,
  { path, content, mode, owner = 0 }: VolumeFile,
  group: number | undefined,
): Promise<boolean> {
  const found = await lstat(join(directory, path));
  const rights = group === undefined ? mode : mode | 0o440;
  const isAsWanted =
    found.isFile() &&
    found.size === content.length &&
    (found.mode & 0o7777) === rights &&
    found.uid === owner &&
    found.gid === (group ?? 0);
  return isAsWanted && Buffer.compare(await readFile(join(directory, path)), content) === 0;
}

async function writeOne(
  directory: string,
  { path, content, mode, owner }: VolumeFile,
  group: number | undefined,
): Promise<void> {
  const file = join(directory, path);
  const parts = path.split('/').slice(0, -1);
  await mkdir(dirname(file), { recursive: true });
  for (let depth = 1; depth <= parts.length; depth++)
    await setDirectory(join(directory, ...parts.slice(0, depth)), group);
  // The file is private from its first byte on.
  await writeFile(file, content, { mode: 0o600 });
  if (owner !== undefined || group !== undefined) await chown(file, owner ?? 0, group ?? 0);
  await chmod(file, group === undefined ? mode : mode | 0o440);
}

async function setDirectory(path: string, group: number | undefined): Promise<void> {
  if (group !== undefined) await chown(path, 0, group);
  await chmod(path, group === undefined ? 0o755 : 0o2755);
}

async function link(volume: string, name: string): Promise<void> {
  if (await isLinked(volume, name)) return;
  const path = join(volume, name);
  await rm(path, { recursive: true, force: true });
  await symlink(join(current, name), path);
}

async function isLinked(volume: string, name: string): Promise<boolean> {
  const path = join(volume, name);
  const found = await lstat(path).catch(() => undefined);
  return found?.isSymbolicLink() === true && (await readlink(path)) === join(current, name);
}
