/**
 * Record of the runs of test files: one JSON line per file and visit of flakes.ts, and per file and run of a
 * stage.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { Verdict } from './verdict.ts';

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

/** Stages whose files the record counts. */
export const recordedStages: readonly string[] = ['integration', 'e2e', 'conformance'];

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

const lineOf = (entry: FlakeEntry) => `${JSON.stringify(entry)}\n`;

export const appendEntry = (path: string, entry: FlakeEntry) => appendFileSync(path, lineOf(entry));

export const writeRecord = (path: string, entries: readonly FlakeEntry[]) =>
  writeFileSync(path, entries.map(lineOf).join(''));

/** Returns the short hash of the commit in the work tree; empty outside a work tree of git. */
export function commitOf(root: string): string {
  try {
    const words = ['rev-parse', '--short', 'HEAD'];
    const hash = execFileSync('git', words, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return hash.trim();
  } catch {
    // An unpacked archive has no commit.
    return '';
  }
}

/**
 * Returns the runs of a stage, sorted by file: one of each file that passed, two of a file that failed at
 * first. A file that failed again is left out, because its failure is no coincidence.
 */
export function runsOf(
  { files, flaky }: Pick<Verdict, 'files' | 'flaky'>,
  { date, commit }: Pick<FlakeEntry, 'date' | 'commit'>,
): FlakeEntry[] {
  const failures = new Map(flaky.map((result) => [result.file, result.failures[0]]));
  return files
    .filter((result) => result.failures.length === 0)
    .map(({ file }) => {
      const failure = failures.get(file);
      const first = failure === undefined ? '' : `${failure.test}: ${failure.text}`;
      const count = failures.has(file) ? { runs: 2, failures: 1 } : { runs: 1, failures: 0 };
      return { file, ...count, first, load: false, date, commit };
    })
    .sort((one, other) => (one.file < other.file ? -1 : 1));
}

/**
 * Returns the record with further runs. They are added to the last entry of the same file and load, which
 * gets their date and commit, so that the record does not grow with each run; a failure begins an entry of
 * its own.
 */
export function withRuns(record: readonly FlakeEntry[], more: readonly FlakeEntry[]): FlakeEntry[] {
  const entries = [...record];
  for (const entry of more) {
    const at = entries.findLastIndex(({ file, load }) => file === entry.file && load === entry.load);
    const last = entries[at];
    if (last === undefined || entry.failures > 0) entries.push(entry);
    else entries[at] = { ...entry, ...countOf(last), runs: last.runs + entry.runs };
  }
  return entries;
}

const countOf = ({ failures, first }: FlakeEntry) => ({ failures, first });

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
