/** Lists the files that took most of the time of a test run, and those that took most processor time. */

export interface FileTime {
  readonly file: string;
  readonly seconds: number;
  readonly processorSeconds: number;
}

const most = 10;
/** Minimum of a listed file in seconds; nothing is printed for a short run. */
const minSeconds = 5;

/**
 * Returns both lists, the largest first. Files run in parallel, so the sum of the times exceeds the duration
 * of the run. `loadingSeconds` is the processor time of loading, which is not part of that of the files.
 */
export function slowest(times: readonly FileTime[], loadingSeconds: number): string {
  const loading = ` of processor time, and ${loadingSeconds.toFixed(0)} s for loading them`;
  return [
    list('slowest', times, ({ seconds }) => seconds, ' in all'),
    list('dearest', times, ({ processorSeconds }) => processorSeconds, loading),
  ].join('');
}

function list(
  title: string,
  times: readonly FileTime[],
  secondsOf: (time: FileTime) => number,
  unit: string,
): string {
  const long = times
    .filter((time) => secondsOf(time) >= minSeconds)
    .sort((one, other) => secondsOf(other) - secondsOf(one));
  if (long.length === 0) return '';
  const sum = times.reduce((all, time) => all + secondsOf(time), 0);
  const lines = long
    .slice(0, most)
    .map((time) => `  ${secondsOf(time).toFixed(0).padStart(4)} s ${time.file}\n`);
  return `${title} of ${times.length} files, ${sum.toFixed(0)} s${unit}:\n${lines.join('')}`;
}
