/**
 * The files of a log that the engine rotates: it writes `path`; once that is full it removes the last of
 * `path.1`, `path.2`, …, renames the others to the next number, the highest first, and begins a new `path`. A
 * file is identified by its inode, which no other file gets as long as a handle of it is open.
 */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

export interface LogFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
}

/**
 * Position of a file: `newest` when the engine writes to it; `changing` during a rotation, whose end causes a
 * change in the folder; `removed` when it is gone with all others; otherwise the file that was written after
 * it.
 */
export type Following = 'newest' | 'changing' | 'removed' | LogFile;

/** Opens the oldest file that is kept; undefined when there is none. */
export async function openOldest(path: string): Promise<LogFile | undefined> {
  for (;;) {
    const number = (await numbersOf(path)).at(-1);
    if (number === undefined) return undefined;
    const file = await openNumber(path, number);
    // If the file is missing, the engine has renamed it since, and the search is repeated.
    if (file) return file;
  }
}

/** Opens the newest file, which is `path.1` during a rotation; undefined when there is none. */
export async function openNewest(path: string): Promise<LogFile | undefined> {
  for (;;) {
    const [number] = await numbersOf(path);
    if (number === undefined) return undefined;
    const file = await openNumber(path, number);
    if (file) return file;
  }
}

/** Finds the file written after `file`, which stays open. The caller closes the file that is returned. */
export async function following(path: string, file: LogFile): Promise<Following> {
  for (;;) {
    if ((await inodeAt(path, 0)) === file.inode) return 'newest';
    const number = await numberOf(path, file);
    if (number === 0) return 'newest';
    if (number === undefined) return followingUnnumbered(path, file);
    const next = await openNumber(path, number - 1);
    // Files are renamed from the highest number on: while this file keeps its number, so does the next.
    const stays = (await inodeAt(path, number)) === file.inode;
    if (stays) return next ?? 'changing';
    await next?.handle.close();
  }
}

/** Maximum number of attempts to find an older file while a rotation renames it, which takes microseconds. */
const maxAttempts = 100;

/** Finds the file after one that has no number: it is being renamed, or is no longer kept. */
async function followingUnnumbered(path: string, file: LogFile): Promise<Following> {
  if (await isLinked(file)) return 'changing';
  // The reader is behind all files that are kept, or the file was the oldest.
  return (await openOldest(path)) ?? 'removed';
}

const isOther = (found: LogFile | undefined, file: LogFile) =>
  found !== undefined && found.inode !== file.inode;

const isOldest = async (path: string, number: number): Promise<boolean> =>
  (await numbersOf(path)).every((other) => other <= number);

/** Opens the file written before `file`, which stays open; undefined when that file is not kept. */
export async function preceding(path: string, file: LogFile): Promise<LogFile | undefined> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const number = await numberOf(path, file);
    const older =
      number === undefined ? await precedingUnnumbered(file) : await openBefore(path, file, number);
    if (older !== 'changing') return older;
  }
  return undefined;
}

const precedingUnnumbered = async (file: LogFile) => ((await isLinked(file)) ? 'changing' : undefined);

/** Opens the file before number `number`, which `file` had; undefined if `file` is the oldest. */
async function openBefore(
  path: string,
  file: LogFile,
  number: number,
): Promise<LogFile | 'changing' | undefined> {
  const older = await openNumber(path, number + 1);
  const stays = (await inodeAt(path, number)) === file.inode;
  if (stays && isOther(older, file)) return older;
  await older?.handle.close();
  return stays && (await isOldest(path, number)) ? undefined : 'changing';
}

/** Returns the numbers of the existing files, in ascending order; 0 stands for `path` itself. */
async function numbersOf(path: string): Promise<number[]> {
  const name = basename(path);
  const found = (await unlessMissing(readdir(dirname(path)))) ?? [];
  return found
    .flatMap((each) => {
      if (each === name) return [0];
      const rest = each.startsWith(`${name}.`) ? each.slice(name.length + 1) : '';
      return /^[1-9]\d{0,5}$/.test(rest) ? [Number(rest)] : [];
    })
    .sort((a, b) => a - b);
}

/**
 * Returns the file's number; undefined when it is gone. The numbers are checked in ascending order, the
 * direction of the renames, so that no file is missed.
 */
async function numberOf(path: string, { inode }: LogFile): Promise<number | undefined> {
  for (const number of await numbersOf(path)) if ((await inodeAt(path, number)) === inode) return number;
  return undefined;
}

const nameOf = (path: string, number: number) => (number === 0 ? path : `${path}.${number}`);

async function openNumber(path: string, number: number): Promise<LogFile | undefined> {
  const handle = await unlessMissing(open(nameOf(path, number), 'r'));
  if (!handle) return undefined;
  try {
    return { handle, inode: (await handle.stat({ bigint: true })).ino };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const inodeAt = async (path: string, number: number) =>
  (await unlessMissing(stat(nameOf(path, number), { bigint: true })))?.ino;

const isLinked = async ({ handle }: LogFile) => (await handle.stat()).nlink > 0;

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
