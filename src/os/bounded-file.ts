/**
 * Reads files that a user names. Such a file may be a device, a pipe without an end, or gigabytes long:
 * reading stops at a maximum. Pipes and the files of a shell's process substitution are read to their end.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';

const mebibyte = 1024 * 1024;

/** Maximum number of bytes of one input, far above all manifests of a cluster. */
export const maxInputBytes = 64 * mebibyte;

/** Returns the error for an input that is longer. `name` is the file or `standard input`. */
export const tooLongInput = (name: string): Error =>
  new Error(`${name} has more than ${maxInputBytes / mebibyte} MiB: write it in parts`);

/**
 * Resolves to the bytes of a file. Rejects with the error of the system if it cannot be read, and with
 * `tooLong` as soon as it is known to have more than `maxBytes`.
 */
export async function readBounded(
  path: string,
  maxBytes = maxInputBytes,
  tooLong = tooLongInput(path),
): Promise<Buffer> {
  const file = await open(path);
  try {
    if ((await file.stat()).size > maxBytes) throw tooLong;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
}

/** Returns the UTF-8 text of a file; throws like `readBounded`. */
export const readBoundedSync = (path: string): string => readBytesSync(path).toString('utf8');

/** Returns the bytes of a file; throws like `readBounded`. */
export function readBytesSync(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size > maxInputBytes) throw tooLongInput(path);
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; ; ) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const count = readSync(file, chunk);
      if (count === 0) return Buffer.concat(chunks);
      bytes += count;
      if (bytes > maxInputBytes) throw tooLongInput(path);
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}
