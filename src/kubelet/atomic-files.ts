/**
 * The files of a volume, replaced all at once: who reads them finds all old ones or all new ones (upstream: volume/util
 * AtomicWriter). The files lie in a directory with a name of its own, the link `..data` leads there, and each name of the volume
 * is a link through it; so one renamed link changes them all.
 */
import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
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

/** Tells files that differ in anything; whoever keeps it need not write the same again. */
export function digestOf(files: readonly VolumeFile[], group: number | undefined): string {
  const hash = createHash('sha256');
  for (const { path, content, mode, owner } of files) {
    hash.update(JSON.stringify([path, mode, owner, content.length]));
    hash.update(content);
  }
  return hash.update(String(group)).digest('base64');
}

/** The directory that holds the files now. Rejects before anything was written. */
export const currentFiles = async (volume: string) => join(volume, await readlink(join(volume, current)));

/** Whether it holds the files of an earlier time, all of them. */
export const isFilled = (volume: string): Promise<boolean> =>
  currentFiles(volume).then(
    () => true,
    () => false,
  );

/** With `group` the files are readable by it. Safe to repeat after it was cut off at any point. */
export async function replaceFiles(
  volume: string,
  files: readonly VolumeFile[],
  group: number | undefined,
): Promise<void> {
  const directory = await mkdtemp(join(volume, '..files-'));
  await setDirectory(directory, group);
  for (const file of files) await writeOne(directory, file, group);
  await rm(join(volume, draft), { force: true });
  await symlink(directory.slice(volume.length + 1), join(volume, draft));
  await rename(join(volume, draft), join(volume, current));
  const names = new Set(files.map(({ path }) => path.split('/')[0] ?? ''));
  for (const name of names) await link(volume, name);
  for (const name of await readdir(volume)) {
    const isOld = name.startsWith('..')
      ? name !== current && join(volume, name) !== directory
      : !names.has(name);
    if (isOld) await rm(join(volume, name), { recursive: true, force: true });
  }
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
  // Nobody else's from its first byte on.
  await writeFile(file, content, { mode: 0o600 });
  if (owner !== undefined || group !== undefined) await chown(file, owner ?? 0, group ?? 0);
  await chmod(file, group === undefined ? mode : mode | 0o440);
}

async function setDirectory(path: string, group: number | undefined): Promise<void> {
  if (group !== undefined) await chown(path, 0, group);
  await chmod(path, group === undefined ? 0o755 : 0o2755);
}

async function link(volume: string, name: string): Promise<void> {
  const path = join(volume, name);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() && (await readlink(path)) === join(current, name)) return;
  await rm(path, { recursive: true, force: true });
  await symlink(join(current, name), path);
}
