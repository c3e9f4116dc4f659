/** Errors of the file system as one line: the path, what is wrong there, and what to do. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

const troubles: Readonly<Record<string, string>> = {
  ENOSPC: 'its file system is full (ENOSPC): make room there',
  EDQUOT: 'the quota of its file system is used up (EDQUOT): make room there',
  EROFS: 'its file system is read-only (EROFS): make it writable',
  EPERM: 'the system does not allow it (EPERM): lsattr shows whether the file or directory is immutable',
};

/**
 * Returns an error that names the path, not the draft of a file, and says what to do; its code stays. Returns
 * `error` itself if nothing more is known about it.
 */
export function troubleAt(path: string, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const what = troubles[code] ?? (code === 'ENOENT' ? missingAbove(path) : undefined);
  if (what === undefined) return error;
  // A cause would repeat the error with the name of the draft.
  return Object.assign(new Error(`${path} cannot be changed: ${what}`), { code });
}

function missingAbove(path: string): string | undefined {
  const directory = dirname(path);
  return existsSync(directory) ? undefined : `the directory ${directory} does not exist: create it`;
}
