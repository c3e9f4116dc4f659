/** The kernel's own files: they come and go with what they tell of. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const gone: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH', 'ENODEV', 'EOPNOTSUPP']);

/** Undefined when it does not exist, or its process or group ended while it was read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return unlessGone(error);
  }
}

/**
 * The same of a file that the kernel makes up in memory while it is read, such as one of a cgroup: that takes about ten
 * microseconds, and to have another thread do it three times as much.
 */
export function readNowIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return unlessGone(error);
  }
}

function unlessGone(error: unknown): undefined {
  if (!gone.has((error as NodeJS.ErrnoException).code)) throw error;
}
