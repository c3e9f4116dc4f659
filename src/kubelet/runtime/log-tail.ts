/** Opens the part of a log that the engine's files have now, or the end of it. */
import type { FileHandle } from 'node:fs/promises';
import { type LogFile, openNewest, preceding } from './log-file-chain.ts';

/** Position in a log file, in bytes; the caller closes the file. */
export interface LogPlace {
  readonly file: LogFile;
  readonly offset: number;
}

/** Part of a log file up to its present end. */
export interface LogPart extends LogPlace {
  readonly end: number;
}

const chunkBytes = 64 * 1024;
const lineEnd = 0x0a;

/**
 * Finds the last `count` entries, or the first entry that is kept when there are fewer; undefined when there
 * is no file.
 */
export async function openTail(path: string, count: number): Promise<LogPlace | undefined> {
  const [first, ...others] = await openParts(path, count);
  for (const { file } of others) await file.handle.close();
  return first;
}

/**
 * Opens the files with the last `count` entries, or all files if `count` is undefined, the oldest first. The
 * caller closes them. All are open at the same time, so a rotation removes none of them before it is read.
 */
export async function openParts(path: string, count: number | undefined): Promise<readonly LogPart[]> {
  const parts: LogPart[] = [];
  let wanted = count;
  let file = await openNewest(path);
  try {
    while (file) {
      const { size: end } = await file.handle.stat();
      const { offset, seen } = await entriesFromEnd(file.handle, end, wanted);
      parts.unshift({ file, offset: offset ?? 0, end });
      if (offset !== undefined) break;
      if (wanted !== undefined) wanted -= seen;
      file = await preceding(path, file);
    }
    return parts;
  } catch (error) {
    for (const one of new Set([...parts.map((part) => part.file), file])) await one?.handle.close();
    throw error;
  }
}

/**
 * Returns the offset at which the last `count` lines of a file begin, or the number of its lines when it has
 * no more than `count`.
 */
async function entriesFromEnd(
  handle: FileHandle,
  size: number,
  count: number | undefined,
): Promise<{ readonly offset?: number; readonly seen: number }> {
  let seen = 0;
  if (count === undefined) return { seen };
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (buffer[at] !== lineEnd) continue;
      // The end of one more line is before the first line wanted.
      if (seen === count) return { offset: start + at + 1, seen };
      seen++;
    }
    end = start;
  }
  return { seen };
}
