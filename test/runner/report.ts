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
  /** Processor time of its tests, without loading them (test/runner/processor-seconds.ts). */
  readonly processorSeconds: number;
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
  /** Processor time before the first test: starting the process and loading its files. */
  readonly loadingSeconds: number;
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
  const uncaught = lines.filter((line) => 'uncaught' in line);
  const tests = [
    ...uncaught.map(({ uncaught: path, error }) => ({ path, suite: false, failed: true, ms: 0, error })),
    ...lines.filter((line) => 'path' in line),
  ];
  const complete = lines.some((line) => 'end' in line);
  // Files that share a process are loaded when the suite around the first one begins.
  const depth = files.length === 1 ? 0 : 1;
  const loadingSeconds = lines.find((line) => 'begin' in line && line.begin === depth)?.used ?? 0;
  const results =
    files.length === 1
      ? [{ ...fileResult(files[0] ?? '', tests, complete), processorSeconds: usedBetween(lines) }]
      : files.map((file) => {
          const inside = tests.filter(({ path }) => path[0] === file);
          const processorSeconds = usedBetween(linesOfFile(lines, file));
          return { ...fileResult(file, inside, inside.at(-1)?.path.length === 1, 1), processorSeconds };
        });
  const failed = results.some(({ failures }) => failures.some(({ test }) => test !== ''));
  const died = !complete || (end.code !== 0 && !failed);
  if (!died) return { files: results, loadingSeconds, died };
  const all = complete && results.every(({ failures }) => failures.length === 0);
  const judged = results.map((result) => (all ? failedBy(end, result) : reported(result, end)));
  return { files: judged, loadingSeconds, died };
}

/** Returns the processor time between the first and the last of these lines, in seconds. */
function usedBetween(lines: readonly Line[]): number {
  const used = lines.flatMap((line) => line.used ?? []);
  return (used.at(-1) ?? 0) - (used[0] ?? 0);
}

/**
 * Returns the lines of a file of a process that runs several, after the last line before them: the files run
 * one after the other.
 */
function linesOfFile(lines: readonly Line[], file: string): readonly Line[] {
  const isOf = (line: Line) => 'path' in line && line.path[0] === file;
  const first = lines.findIndex(isOf);
  return first === -1 ? [] : lines.slice(Math.max(first - 1, 0), lines.findLastIndex(isOf) + 1);
}

/**
 * Returns the result of a file. If its report is incomplete, it has a failure without text, which `reported`
 * fills in.
 */
function fileResult(
  file: string,
  tests: readonly EndedTest[],
  complete: boolean,
  depth = 0,
): Omit<FileResult, 'processorSeconds'> {
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
