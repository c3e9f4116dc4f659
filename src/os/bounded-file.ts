/**
 * Reads files that a user names. Such a file may be a device, a pipe without an end, or gigabytes long:
 * reading stops at a maximum. Pipes and the files of a shell's process substitution are read to their end.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';

const mebibyte = 1024 * 1024;

/** Maximum number of bytes of one input, far above all manifests of a cluster. */
export const maxInputBytes = 64 * mebibyte;

/** Returns the error for an input that is longer. `name` is the file or `standard input`. */
export const tooLongInput = (name: string): Error =>
  new Error(`${name} has more than ${maxInputBytes / mebibyte} MiB: write it in parts`);

export interface ReadOptions {
  /** Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Error for a longer file. */
  readonly tooLong?: Error;
  /** Ends the wait for a pipe: the promise then rejects. */
  readonly signal?: AbortSignal;
}

/** Meanings of the codes of the system for a file that is read, in the words of Go. */
const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  ENAMETOOLONG: 'file name too long',
  ELOOP: 'too many levels of symbolic links',
};

/** Returns the meaning of a code of the system; undefined for an unknown code. */
export const fileProblem = (code: unknown): string | undefined =>
  typeof code === 'string' && Object.hasOwn(problems, code) ? problems[code] : undefined;

/** Returns the error of the system in words, with its code; another error is returned unchanged. */
function inWords(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const problem = fileProblem(code);
  if (problem === undefined) return error;
  return Object.assign(new Error(`${code === 'EISDIR' ? 'read' : 'open'} ${path}: ${problem}`), { code });
}

/**
 * Resolves to the bytes of a file. Rejects with the error of the system, such as `open FILE: no such file or
 * directory`, if it cannot be read, and with `tooLong` as soon as it is known to have more than `maxBytes`.
 */
export async function readBounded(path: string, options: ReadOptions = {}): Promise<Buffer> {
  try {
    return await readAtMost(path, options);
  } catch (error) {
    throw inWords(path, error);
  }
}

async function readAtMost(path: string, options: ReadOptions): Promise<Buffer> {
  const { maxBytes = maxInputBytes, tooLong = tooLongInput(path), signal } = options;
  const isPipe = (await stat(path)).isFIFO();
  const file = isPipe ? undefined : await open(path);
  try {
    if (file && (await file.stat()).size > maxBytes) throw tooLong;
    const stream = file ? file.createReadStream({ autoClose: false }) : openPipe(path, signal);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    await file?.close();
  }
}

/**
 * Opens a pipe that may have no writer yet. A usual open(2) would wait for a writer in a thread that no
 * signal ends, and the process could only be killed.
 */
function openPipe(path: string, signal: AbortSignal | undefined): Readable {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const socket = new Socket({ fd: openSync(path, flags), readable: true, writable: false });
  return signal ? addAbortSignal(signal, socket) : socket;
}

/** Returns the UTF-8 text of a file; throws like `readBounded`. */
export const readBoundedSync = (path: string): string => readBytesSync(path).toString('utf8');

/** Returns the bytes of a file; throws like `readBounded`. */
export function readBytesSync(path: string): Buffer {
  try {
    return readAtMostSync(path);
  } catch (error) {
    throw inWords(path, error);
  }
}

function readAtMostSync(path: string): Buffer {
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
