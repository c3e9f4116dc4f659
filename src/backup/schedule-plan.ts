/** When the next backup is due, and which backups are too old to be kept: from the names of the files. */
import { readFileName } from './manifest.ts';

/**
 * Returns the milliseconds until the next backup is due: 0 or less if it is due now. Backups with a later
 * time than now do not count, so that a clock that was set back does not stop the backups.
 */
export function dueInMs(names: readonly string[], nowMs: number, intervalMs: number): number {
  const newest = Math.max(...backupsIn(names, nowMs).map(({ createdMs }) => createdMs));
  return newest + intervalMs - nowMs;
}

/**
 * Returns the names of the oldest backups beyond the number to keep. Other files are never returned, and
 * those with a later time than now neither count nor are returned.
 */
export function outdatedNames(names: readonly string[], nowMs: number, keep: number): readonly string[] {
  const oldestFirst = backupsIn(names, nowMs).sort((a, b) => a.createdMs - b.createdMs);
  return oldestFirst.slice(0, Math.max(0, oldestFirst.length - keep)).map(({ name }) => name);
}

interface Backup {
  readonly name: string;
  readonly createdMs: number;
}

const backupsIn = (names: readonly string[], nowMs: number): Backup[] =>
  names.flatMap((name) => {
    const createdMs = Date.parse(readFileName(name)?.created ?? '');
    return createdMs <= nowMs ? [{ name, createdMs }] : [];
  });
