/** The kernel's own files: they come and go with what they tell of. */
import { readFile } from 'node:fs/promises';

/** Undefined when it does not exist, or its process or group ended while it was read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENODEV' || code === 'EOPNOTSUPP') return undefined;
    throw error;
  }
}
