/**
 * Atomic replacement of a file: a reader finds the complete old or new file, even if the writer was killed.
 */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ReplaceOptions {
  /**
   * File mode, such as 0o600. It applies from the first byte on, so that other users can never read a secret.
   */
  readonly mode: number;
  /** Modification time of the new file, in seconds since the Unix epoch; default: now. */
  readonly modified?: number;
}

let drafts = 0;

/** Returns true for the name of an unfinished draft, left by a writer that was killed. */
export const isDraft = (name: string) => /\.minik8s-\d+-\d+$/.test(name);

/**
 * Replaces the file. Resolves when the new file and its directory entry are on disk. On failure, rejects with
 * the file system's error and leaves only the old file. A symbolic link is itself replaced.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode, modified }: ReplaceOptions,
): Promise<void> {
  // The name is unique to this process and call: with several concurrent writers, the last one wins.
  const draft = `${path}.minik8s-${process.pid}-${drafts++}`;
  try {
    // An existing file was left by a killed process with the same pid; writing into it would keep its mode.
    await rm(draft, { force: true });
    {
      await using file = await open(draft, 'wx', mode);
      // Restore the bits that the umask removed.
      await file.chmod(mode);
      await file.writeFile(content);
      if (modified !== undefined) await file.utimes(modified, modified);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using directory = await open(dirname(path));
  await directory.sync();
}
