/** When the next backup is due, and which backups are too old to be kept: from the names of the files. */
import { readFileName } from './manifest.ts';

/**
 * Returns the milliseconds until the next backup is due: 0 or less if it is due now, never more than the
 * interval, so that a clock that was set back does not stop the backups.
 */
export function dueInMs(names: readonly string[], nowMs: number, intervalMs: number): number {
  const newest = Math.max(...backupsIn(names).map(({ createdMs }) => createdMs));
  return Math.min(newest + intervalMs - nowMs, intervalMs);
}

/** Returns the names of the oldest backups beyond the number to keep. Other files are never returned. */
export function outdatedNames(names: readonly string[], keep: number): readonly string[] {
  const oldestFirst = backupsIn(names).sort((a, b) => a.createdMs - b.createdMs);
  return oldestFirst.slice(0, Math.max(0, oldestFirst.length - keep)).map(({ name }) => name);
}

interface Backup {
  readonly name: string;
  readonly createdMs: number;
}

const backupsIn = (names: readonly string[]): Backup[] =>
  names.flatMap((name) => {
    const about = readFileName(name);
    return about ? [{ name, createdMs: Date.parse(about.created) }] : [];
  });
