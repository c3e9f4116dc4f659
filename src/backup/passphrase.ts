/** The passphrase of backups: the first line of a file, so that it is in no argument and no variable. */
import { stat } from 'node:fs/promises';
import { UsageError } from '../base/usage-error.ts';
import { readBounded } from '../os/bounded-file.ts';

/** Minimum number of characters of a passphrase, and the maximum number of bytes of its file. */
const [minLength, maxBytes] = [8, 64 * 1024];

/**
 * Reads the passphrase. Rejects with UsageError if the file cannot be read, other users may read it, or its
 * first line is not valid.
 */
export async function readPassphrase(path: string, flag: string): Promise<string> {
  const tooLong = new UsageError(
    `${flag}: ${path} has more than ${maxBytes / 1024} KiB: give a file whose first line is the passphrase`,
  );
  const bytes = await ownBytes(path, flag, tooLong).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${flag}: ${path} cannot be read (${error.code}); give the path of a file`);
  });
  const [line = ''] = textIn(bytes, path, flag).split(/\r?\n/, 1);
  if (line.length < minLength)
    throw new UsageError(
      `${flag}: the first line of ${path} is the passphrase, and has less than ${minLength} characters`,
    );
  return line;
}

/** Reads the file. Pipes and devices have modes of their own, so only the mode of a regular file counts. */
async function ownBytes(path: string, flag: string, tooLong: UsageError): Promise<Uint8Array> {
  const stats = await stat(path);
  if (stats.isFile() && (stats.mode & 0o077) !== 0)
    throw new UsageError(`${flag}: users other than its owner may read ${path}; run chmod 600 ${path}`);
  return readBounded(path, { maxBytes, tooLong });
}

/** Throws for bytes that are no text: a program that reads them as text would find another passphrase. */
function textIn(bytes: Uint8Array, path: string, flag: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${flag}: ${path} is no text in UTF-8; head -c 24 /dev/urandom | base64 makes one`);
  }
}
