/** The passphrase of backups: the first line of a file, so that it is in no argument and no variable. */
import { readFile } from 'node:fs/promises';
import { UsageError } from '../base/usage-error.ts';

/** Minimum number of characters of a passphrase. */
const minLength = 8;

/**
 * Reads the passphrase. Rejects with UsageError if the file cannot be read, or its first line is not valid.
 */
export async function readPassphrase(path: string, flag: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${path} cannot be read (${error.code}); give the path of a file`);
  });
  const [line = ''] = textIn(bytes, path, flag).split(/\r?\n/, 1);
  if (line.length < minLength)
    throw new UsageError(
      `${flag}: the first line of ${path} is the passphrase, and has less than ${minLength} characters`,
    );
  return line;
}

/** Random bytes are no text: a program that reads them as text would find another passphrase. */
function textIn(bytes: Uint8Array, path: string, flag: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${flag}: ${path} is no text in UTF-8; head -c 24 /dev/urandom | base64 makes one`);
  }
}
