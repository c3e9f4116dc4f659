/** Files with keys, which their owner alone may read. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Takes the files from other users: a copy of a directory, or a restoration by hand, may have made a key
 * readable for all. Links and directories are left alone. The directory must exist.
 */
export async function takeFromOthers(directory: string, isPrivate: (name: string) => boolean): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || !isPrivate(entry.name)) continue;
    await using file = await open(join(directory, entry.name));
    const { mode, uid } = await file.stat();
    const own = process.getuid?.() ?? uid;
    // Only root can take a file from its owner; another user could not have opened it.
    if (uid !== own && own === 0) await file.chown(0, 0);
    if ((mode & 0o077) !== 0) await file.chmod(mode & 0o700);
  }
}
