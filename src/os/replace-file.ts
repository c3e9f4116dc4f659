/**
 * Atomic replacement of a file: a reader finds the complete old or new file, even if the writer was killed.
 */
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface ReplaceOptions {
  /**
   * File mode, such as 0o600. It applies from the first byte on, so that other users can never read a secret.
   */
  readonly mode: number;
  /** Modification time of the new file, in seconds since the Unix epoch; default: now. */
  readonly modified?: number;
  /** Owner of the new file; default: the user of this process. Only root can give a file to another user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

let drafts = 0;

const draftName = /\.minik8s-(\d+)-\d+$/;

/**
 * Returns the path of a draft of the file. It is unique to this process and call: with several concurrent
 * writers, the last one wins.
 */
export const draftOf = (path: string): string => `${path}.minik8s-${process.pid}-${drafts++}`;

/** Returns true for the name of an unfinished draft, left by a writer that was killed. */
export const isDraft = (name: string) => draftName.test(name);

/**
 * Removes the drafts of writers that no longer run: they may hold keys. The directory must exist. `of`: the
 * name of the only file whose drafts are removed.
 */
export async function removeLeftDrafts(directory: string, of?: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (of !== undefined && name.replace(draftName, '') !== of) continue;
    const pid = draftName.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(directory, name), { force: true });
  }
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const isDirectory = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EISDIR';

/** Returns an error that names the file itself, not its draft. */
const inTheWay = (path: string, cause: unknown): Error =>
  Object.assign(new Error(`${path} is a directory, in the place of a file: move it away`, { cause }), {
    code: 'EISDIR',
  });

/**
 * Replaces the file. Resolves when the new file and its directory entry are on disk. On failure, rejects with
 * the error of the file system, or of the content's source, and leaves only the old file. A symbolic link is
 * itself replaced.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  { mode, modified, owner }: ReplaceOptions,
): Promise<void> {
  const draft = draftOf(path);
  try {
    // An existing file was left by a killed process with the same pid; writing into it would keep its mode.
    await rm(draft, { force: true });
    {
      await using file = await open(draft, 'wx', mode);
      // Restore the bits that the umask removed.
      await file.chmod(mode);
      if (owner && process.getuid?.() === 0) await file.chown(owner.uid, owner.gid);
      await file.writeFile(content);
      if (modified !== undefined) await file.utimes(modified, modified);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw isDirectory(error) ? inTheWay(path, error) : error;
  }
  await using directory = await open(dirname(path));
  await directory.sync();
}
