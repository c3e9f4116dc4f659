/**
 * The parts of etcd's data directory. etcd begins anew, empty, without its directory or its write-ahead log,
 * so a start must not reach etcd if one of them is lost.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

export interface DataParts {
  /** True once an etcd of this version has served the data (take-over.ts). */
  readonly hasServed: boolean;
  /** True if `member` exists, which etcd creates first. */
  readonly hasMember: boolean;
  /** Size of the database in bytes; undefined if there is none. */
  readonly databaseBytes: number | undefined;
  /** Sizes in bytes of the files of the write-ahead log, by name. */
  readonly logBytes: ReadonlyMap<string, number>;
}

/** Reads the parts of the data directory of etcd. */
export async function readParts(data: string, hasServed: boolean): Promise<DataParts> {
  const log = path.join(data, 'member/wal');
  const names = ((await unlessMissing(readdir(log))) ?? []).filter((name) => name.endsWith('.wal'));
  const logBytes = new Map<string, number>();
  for (const name of names.sort()) logBytes.set(name, (await stat(path.join(log, name))).size);
  return {
    hasServed,
    hasMember: (await unlessMissing(stat(path.join(data, 'member')))) !== undefined,
    databaseBytes: (await unlessMissing(stat(path.join(data, 'member/snap/db'))))?.size,
    logBytes,
  };
}

/** Returns what is lost; undefined if the parts are complete, or if etcd has not created them yet. */
export function lostPart({ hasServed, hasMember, databaseBytes, logBytes }: DataParts): string | undefined {
  if (!hasMember) return hasServed ? 'all of them are missing' : undefined;
  if (databaseBytes === undefined) return 'the database member/snap/db is missing';
  if (databaseBytes === 0) return 'the database member/snap/db is empty';
  if (logBytes.size === 0) return 'the write-ahead log in member/wal is missing';
  // etcd writes and syncs the beginning of a file before it gives the file its name.
  const empty = [...logBytes].find(([, bytes]) => bytes === 0);
  return empty && `the file member/wal/${empty[0]} of the write-ahead log is empty`;
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
