/** Decides which test files run once more, and the verdict of a test run. */
import type { FileResult, ProcessResult } from './report.ts';
import type { Skip } from './skips.ts';

/** Maximum number of failures after which files are run again: more failures are not a coincidence. */
const maxAgain = 3;

/**
 * Returns the failed files, which run once more, alone. A process that died counts as one failure, however
 * many of its files have no report.
 */
export function filesToRunAgain(results: readonly ProcessResult[]): readonly string[] {
  const failed = results.map(({ files, died }) => ({
    died,
    files: files.flatMap(({ file, failures }) => (failures.length > 0 ? [file] : [])),
  }));
  const count = failed.reduce((sum, { files, died }) => sum + (died ? 1 : files.length), 0);
  return count > maxAgain ? [] : failed.flatMap(({ files }) => files);
}

export interface Verdict {
  /** Final results: the second one for a file that ran twice. */
  readonly files: readonly FileResult[];
  /** First results of the files that failed at first and passed when they ran again. */
  readonly flaky: readonly FileResult[];
  readonly failed: readonly FileResult[];
  /** Skips of both runs. */
  readonly skips: readonly Skip[];
  readonly passedTests: number;
  readonly failedTests: number;
  readonly skippedTests: number;
}

export function verdictOf(first: readonly ProcessResult[], again: readonly ProcessResult[]): Verdict {
  const firstFiles = first.flatMap(({ files }) => files);
  const second = new Map(again.flatMap(({ files }) => files).map((result) => [result.file, result]));
  const files = firstFiles.map((result) => second.get(result.file) ?? result);
  const failed = files.filter(({ failures }) => failures.length > 0);
  const sum = (of: (result: FileResult) => number) => files.reduce((all, result) => all + of(result), 0);
  const skips = [...firstFiles, ...second.values()].flatMap((result) => result.skips);
  return {
    files,
    flaky: firstFiles.filter(({ file }) => second.get(file)?.failures.length === 0),
    failed,
    skips: [...new Map(skips.map((skip) => [JSON.stringify(skip), skip])).values()],
    passedTests: sum(({ passed }) => passed),
    failedTests: sum((result) => result.failed),
    skippedTests: sum(({ skipped }) => skipped),
  };
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files that passed when they ran again. */
  readonly flaky: readonly string[];
}

/** Returns the last lines of a run. The last line has only the counts, for programs that parse it. */
export function totalLines({ passed, failed, skipped, flaky }: Totals): string {
  const again =
    flaky.length === 0
      ? ''
      : `${passed} passed, ${failed} failed, ${flaky.length} passed when run again: ${flaky.join(', ')}\n`;
  return `${again}${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}

/** Returns the text to print and store for a file that failed. */
export function failureText({ file, failures }: FileResult, title: string): string {
  const texts = failures.map(({ test, text }) => {
    const lines = text.split('\n').map((line) => `    ${line}`);
    return `${test === '' ? '' : `  ${test}\n`}${lines.join('\n')}\n`;
  });
  return `${title} ${file}\n${texts.join('')}`;
}
