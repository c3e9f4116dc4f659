import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder for this user only, and those above it. Node's own `recursive` never returns in /proc,
 * where a folder cannot be created although the one above it exists.
 */
export function makeFolder(path: string): void {
  const make = () => mkdirSync(path, { mode: 0o700 });
  try {
    make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    make();
  }
}
