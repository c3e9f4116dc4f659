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

/** Whether a file of this name is the unfinished draft of a writer that was killed. */
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
  // A name of this process and call alone: when several write at once, the last one wins.
  const draft = `${path}.minik8s-${process.pid}-${drafts++}`;
  try {
    // A file that is there was left by a killed process with the same pid; its mode would be kept.
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
