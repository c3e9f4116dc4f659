/** Record of repeated runs of test files (flakes.ts): one JSON line per file and visit. */
import { appendFileSync, readFileSync } from 'node:fs';

export interface FlakeEntry {
  /** Path relative to the repository. */
  readonly file: string;
  readonly runs: number;
  /** Number of `runs` that failed. */
  readonly failures: number;
  /** Test and text of the first failure; empty when there is none. */
  readonly first: string;
  /** True if the runs were beside a load of `--load`. */
  readonly load: boolean;
  /** End of the last run, in ISO 8601. */
  readonly date: string;
  readonly commit: string;
}

/** Returns the entries of a record; none if it does not exist. */
export function readRecord(path: string): FlakeEntry[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as FlakeEntry);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export const appendEntry = (path: string, entry: FlakeEntry) =>
  appendFileSync(path, `${JSON.stringify(entry)}\n`);

export interface Owed {
  readonly file: string;
  /** Runs that the file still needs. */
  readonly runs: number;
}

/**
 * Returns the files with fewer than `least` recorded runs, those with the fewest runs first; files with as
 * many runs keep their order.
 */
export function owedRuns(files: readonly string[], record: readonly FlakeEntry[], least: number): Owed[] {
  const done = new Map<string, number>();
  for (const { file, runs } of record) done.set(file, (done.get(file) ?? 0) + runs);
  return files
    .map((file) => ({ file, runs: least - (done.get(file) ?? 0) }))
    .filter(({ runs }) => runs > 0)
    .sort((one, other) => other.runs - one.runs);
}
