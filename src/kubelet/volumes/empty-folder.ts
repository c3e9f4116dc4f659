/**
 * Emptying a directory that is not this server's, after containers have written into it: nothing outside of it, and nothing that is
 * mounted in it, is touched. Its path is walked without following links. What was found at its end is bound elsewhere by itself,
 * without what is mounted in it: there the kernel shows nothing that is others', and refuses to remove what something is mounted on.
 */
import { type FileHandle, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '../../base/exec.ts';
import { mountedFor } from './mounted-for.ts';
import { openDirectory, pathOf } from './sub-paths.ts';

export interface FolderToEmpty {
  readonly path: string;
  /** A mount point that is made for it. */
  readonly target: string;
  /** What may not be emptied, nor anything that has it in it. */
  readonly kept: readonly string[];
}

/** One that is not there is empty. Rejects where something stays. */
export async function emptyFolder(
  { path, target, kept }: FolderToEmpty,
  exec: Exec,
  signal: AbortSignal,
): Promise<void> {
  const fault = emptyingFault(path, kept);
  if (fault !== undefined) throw new Error(fault);
  const folder = await openDirectory(path);
  if (!folder) return;
  try {
    await mountedFor(
      target,
      exec,
      () => bindAlone(folder, target, exec),
      () => removeContent(target, exec, signal),
    );
  } finally {
    await folder.close();
  }
}

/** Removes all that is in a directory on which something is mounted for that alone; goes into no other file system. */
export async function removeContent(path: string, exec: Exec, signal: AbortSignal): Promise<void> {
  // By descriptors, and never through a link; its work is not this process's.
  const args = [path, '-mindepth', '1', '-xdev', '-ignore_readdir_race', '-delete'];
  await exec('find', args, { lengthy: true, signal });
  await using entries = await opendir(path);
  const left = await entries.read();
  if (left) throw new Error(`${JSON.stringify(left.name)} could not be removed`);
}

/** The directory and no mount in it, now or later. */
async function bindAlone(folder: FileHandle, target: string, exec: Exec): Promise<void> {
  await exec('mount', ['--no-canonicalize', '--bind', '--make-private', pathOf(folder), target]);
  const [wanted, mounted] = [await folder.stat(), await stat(target)];
  if (mounted.dev !== wanted.dev || mounted.ino !== wanted.ino)
    throw new Error(`${target}: another directory was mounted`);
}

/** Directories of the system, which no volume is: they, and what is in some of them, are not emptied whatever a volume says. */
const system = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'proc', 'sbin', 'sys', 'usr'];
const shared = ['', 'home', 'media', 'mnt', 'opt', 'root', 'run', 'srv', 'tmp', 'var', 'var/lib', 'var/run'];

/** Why a directory is not emptied, if it is not. `kept` and `path` are absolute. */
export function emptyingFault(path: string, kept: readonly string[]): string | undefined {
  const name = JSON.stringify(path);
  if (!path.startsWith('/') || path.split('/').includes('..')) return `${name} is not an absolute path`;
  const plain = join('/', path).replace(/\/$/, '');
  const inside = (one: string, of: string) => one === of || one.startsWith(`${of}/`);
  const isSystem =
    system.some((one) => inside(plain, `/${one}`)) || shared.some((one) => plain === (one && `/${one}`));
  if (isSystem) return `${name} is a directory of the system, which is not emptied`;
  const other = kept.find((one) => inside(one, plain) || inside(plain, one));
  return other === undefined ? undefined : `${name} is not emptied: this node keeps its own data in ${other}`;
}
