/** Durations of test files, stored from the last run of each file; the longest file starts first. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Stage } from './stages.ts';

/** Seconds by path relative to the repository. */
export type Times = Readonly<Record<string, number>>;

/** Times of long test files, for a machine that has run no tests yet; `npm run keep-times` writes them. */
export const usualTimes = join(import.meta.dirname, 'usual-times.json');

/** Returns the times in a file; none if the file is missing, or damaged by a run that was killed. */
export function readTimes(path: string): Times {
  try {
    const times: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof times === 'object' && times !== null ? (times as Times) : {};
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

export function writeTimes(path: string, times: Times): void {
  mkdirSync(dirname(path), { recursive: true });
  const sorted = Object.entries(times).sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

/**
 * Returns the expected duration of a file in seconds: the stored one, the usual one, or an estimate from its
 * size.
 */
export function expectedSeconds(
  stage: Stage,
  file: string,
  kilobytes: number,
  [kept, usual]: readonly [Times, Times],
): number {
  return kept[file] ?? usual[file] ?? kilobytes * stage.secondsPerKilobyte;
}

export const kilobytesOf = (file: string, root: string) => statSync(resolve(root, file)).size / 1024;
