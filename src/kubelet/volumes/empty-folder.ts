/**
 * Empties a directory of another program after containers have written into it. Nothing outside of it and
 * nothing that is mounted in it is changed. Its path is walked without following links. The directory found
 * there is bind-mounted alone at another place, without the mounts in it: at that place the kernel shows
 * nothing that belongs to others, and refuses to remove a directory on which something is mounted.
 */
import { type FileHandle, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '../../os/exec.ts';
import { mountedFor } from './mounted-for.ts';
import { openDirectory, pathOf } from './sub-paths.ts';

export interface FolderToEmpty {
  readonly path: string;
  /** A mount point that is created for this purpose. */
  readonly target: string;
  /**
   * Directories that must not be emptied. A directory that contains one of them must not be emptied either.
   */
  readonly kept: readonly string[];
}

/** Empties the directory; one that does not exist counts as empty. Rejects when something is left. */
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

/**
 * Removes the content of a directory that is the root of a mount made for this purpose; does not enter other
 * file systems.
 */
export async function removeContent(path: string, exec: Exec, signal: AbortSignal): Promise<void> {
  // The program find works with descriptors and never follows a link; it runs in a separate process.
  const args = [path, '-mindepth', '1', '-xdev', '-ignore_readdir_race', '-delete'];
  await exec('find', args, { lengthy: true, signal });
  await using entries = await opendir(path);
  const left = await entries.read();
  if (left) throw new Error(`${JSON.stringify(left.name)} could not be removed`);
}

/** Mounts the directory at the target without any mount in it, now or later. */
async function bindAlone(folder: FileHandle, target: string, exec: Exec): Promise<void> {
  await exec('mount', ['--no-canonicalize', '--bind', '--make-private', pathOf(folder), target]);
  const [wanted, mounted] = [await folder.stat(), await stat(target)];
  if (mounted.dev !== wanted.dev || mounted.ino !== wanted.ino)
    throw new Error(`${target}: another directory was mounted`);
}

/**
 * Directories of the system, which are never volumes. They are not emptied, whatever a volume specifies.
 * Directories inside the ones in `system` are not emptied either.
 */
const system = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'proc', 'sbin', 'sys', 'usr'];
const shared = ['', 'home', 'media', 'mnt', 'opt', 'root', 'run', 'srv', 'tmp', 'var', 'var/lib', 'var/run'];

/**
 * Returns the reason why a directory must not be emptied; undefined when it may. `kept` and `path` are
 * absolute.
 */
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
