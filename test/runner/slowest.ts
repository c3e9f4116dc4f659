/** Lists the files that took most of the time of a test run. */

export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

const most = 10;
/** Minimum duration of a listed file, in seconds; nothing is printed for a short run. */
const minSeconds = 5;

/**
 * Returns the list with the longest first. Files run in parallel, so the sum of the times exceeds the
 * duration of the run.
 */
export function slowest(times: readonly FileTime[]): string {
  const long = times
    .filter(({ seconds }) => seconds >= minSeconds)
    .sort((one, other) => other.seconds - one.seconds);
  if (long.length === 0) return '';
  const sum = times.reduce((all, { seconds }) => all + seconds, 0);
  const lines = long
    .slice(0, most)
    .map(({ file, seconds }) => `  ${seconds.toFixed(0).padStart(4)} s ${file}\n`);
  return `slowest of ${times.length} files, ${sum.toFixed(0)} s in all:\n${lines.join('')}`;
}
