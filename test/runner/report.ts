/** Converts the report of a test process to one result for each test file that it ran. */
import type { EndedTest, Line } from './events.ts';
import type { Skip } from './skips.ts';

export interface Failure {
  /**
   * Names of the suites around the test and its own, separated by ` > `; empty if the process itself failed.
   */
  readonly test: string;
  readonly text: string;
}

export interface FileResult {
  /** Path relative to the repository. */
  readonly file: string;
  readonly passed: number;
  /** Number of failed tests; at least 1 if the file failed for another reason. */
  readonly failed: number;
  readonly skipped: number;
  /** Duration of its tests, without loading them and without waiting for the machine. */
  readonly seconds: number;
  /** Empty when the file passed. */
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Limit that the process exceeded; undefined if it ended by itself. */
  readonly timeoutMs?: number | undefined;
  /** Last lines that it printed. */
  readonly lastOutput: string;
}

export interface ProcessResult {
  readonly files: readonly FileResult[];
  /**
   * True if the process did not end like its tests: without a report, or with an error after they had passed.
   */
  readonly died: boolean;
}

/**
 * Returns the results. A process runs one file, or several files with a suite around the tests of each, whose
 * name is the file's path.
 */
export function readReport(files: readonly string[], lines: readonly Line[], end: ProcessEnd): ProcessResult {
  const tests = lines.filter((line) => 'path' in line);
  const complete = lines.some((line) => 'end' in line);
  const results =
    files.length === 1
      ? [fileResult(files[0] ?? '', tests, complete)]
      : files.map((file) => {
          const inside = tests.filter(({ path }) => path[0] === file);
          return fileResult(file, inside, inside.at(-1)?.path.length === 1, 1);
        });
  const failed = results.some(({ failures }) => failures.some(({ test }) => test !== ''));
  const died = !complete || (end.code !== 0 && !failed);
  if (!died) return { files: results, died };
  const all = complete && results.every(({ failures }) => failures.length === 0);
  return { files: results.map((result) => (all ? failedBy(end, result) : reported(result, end))), died };
}

/**
 * Returns the result of a file. If its report is incomplete, it has a failure without text, which `reported`
 * fills in.
 */
function fileResult(file: string, tests: readonly EndedTest[], complete: boolean, depth = 0): FileResult {
  const leaves = tests.filter(({ suite }) => !suite);
  const failures = tests.flatMap(({ path, error }) =>
    error === undefined ? [] : [{ test: path.slice(depth).join(' > ') || file, text: error }],
  );
  const silent = tests.filter((test) => test.failed && failures.length === 0);
  for (const { path } of silent.slice(0, 1)) failures.push({ test: path.join(' > '), text: 'failed' });
  if (!complete) failures.push({ test: '', text: '' });
  const failed = leaves.filter((test) => test.failed).length;
  return {
    file,
    passed: leaves.filter((test) => !test.failed && test.skipped === undefined).length,
    failed: failures.length > 0 ? Math.max(failed, 1) : 0,
    skipped: leaves.filter(({ skipped }) => skipped !== undefined).length,
    seconds: tests.reduce((sum, { path, ms }) => (path.length === 1 ? sum + ms / 1000 : sum), 0),
    failures,
    skips: tests.flatMap(({ path, skipped }) =>
      skipped === undefined ? [] : [{ file, name: path.at(-1) ?? '', reason: skipped }],
    ),
  };
}

function reported(result: FileResult, end: ProcessEnd): FileResult {
  const failures = result.failures.map((failure) =>
    failure.test === '' ? { test: '', text: `${reasonOf(end)} without a report${lastLines(end)}` } : failure,
  );
  return { ...result, failures };
}

function failedBy(end: ProcessEnd, result: FileResult): FileResult {
  const text = `${reasonOf(end)} although its tests passed${lastLines(end)}`;
  return { ...result, failed: 1, failures: [{ test: '', text }] };
}

function reasonOf({ code, signal, timeoutMs }: ProcessEnd): string {
  if (timeoutMs !== undefined) return `the process was ended after ${timeoutMs / 1000} s`;
  return signal === null
    ? `the process ended with exit status ${code}`
    : `the process was ended by ${signal}`;
}

const lastLines = ({ lastOutput }: ProcessEnd) =>
  lastOutput === '' ? '' : `; it printed last:\n${lastOutput}`;
