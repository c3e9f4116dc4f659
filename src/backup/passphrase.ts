/** The passphrase of backups: the first line of a file, so that it is in no argument and no variable. */
import { readFile } from 'node:fs/promises';
import { UsageError } from '../base/usage-error.ts';

/** Reads the passphrase. Rejects with UsageError if the file cannot be read, or its first line is empty. */
export async function readPassphrase(path: string, flag: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${path} cannot be read (${error.code}); give the path of a file`);
  });
  const [line = ''] = text.split(/\r?\n/, 1);
  if (line === '') throw new UsageError(`${flag}: the first line of ${path} is empty: it is the passphrase`);
  return line;
}
