/** Replacing a file in one step: whoever reads it, whenever this was killed, finds the old one or the new one, whole. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ReplaceOptions {
  /** Such as 0o600: from the first byte on, so that a secret is never there for others to read. */
  readonly mode: number;
  /** The new file's modification time, in seconds since the Unix epoch; default now. */
  readonly modified?: number;
}

let drafts = 0;

/** Whether a file of this name was to become another, when who wrote it was killed. */
export const isDraft = (name: string) => /\.minik8s-\d+-\d+$/.test(name);

/**
 * Resolves when the new file is on disk, its name in the directory too. Rejects with the file system's error, and leaves the old
 * file and nothing else then. A symbolic link is itself replaced.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode, modified }: ReplaceOptions,
): Promise<void> {
  // No other process's, and no other call's: the last of several that write at once is what stays.
  const draft = `${path}.minik8s-${process.pid}-${drafts++}`;
  try {
    // What lies there is of a process that was killed and had this number; its mode would be kept.
    await rm(draft, { force: true });
    {
      await using file = await open(draft, 'wx', mode);
      // Whatever the umask took.
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
