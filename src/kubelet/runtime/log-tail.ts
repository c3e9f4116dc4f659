/** Finds where the last entries of a log begin in the engine's files. */
import type { FileHandle } from 'node:fs/promises';
import { type LogFile, openNewest, preceding } from './log-file-chain.ts';

/** Position in a log file, in bytes; the caller closes the file. */
export interface LogPlace {
  readonly file: LogFile;
  readonly offset: number;
}

const chunkBytes = 64 * 1024;
const lineEnd = 0x0a;

/**
 * Finds the last `count` entries, or the first entry that is kept when there are fewer; undefined when there
 * is no file.
 */
export async function openTail(path: string, count: number): Promise<LogPlace | undefined> {
  let file = await openNewest(path);
  if (!file) return undefined;
  let wanted = count;
  for (;;) {
    try {
      const { offset, seen } = await entriesFromEnd(file.handle, wanted);
      if (offset !== undefined) return { file, offset };
      const older = await preceding(path, file);
      if (!older) return { file, offset: 0 };
      wanted -= seen;
      await file.handle.close();
      file = older;
    } catch (error) {
      await file.handle.close();
      throw error;
    }
  }
}

/**
 * Returns the offset at which the last `count` lines of a file begin, or the number of its lines when it has
 * no more than `count`.
 */
async function entriesFromEnd(
  handle: FileHandle,
  count: number,
): Promise<{ readonly offset?: number; readonly seen: number }> {
  const { size } = await handle.stat();
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let seen = 0;
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
