/** Small files of the kernel and of the system. */
import { readFile } from 'node:fs/promises';

/** Resolves to the text of a file; to an empty text if there is none. */
export async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    throw error;
  }
}
