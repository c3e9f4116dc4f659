/** Lists the files that a run of tests spent its time in. */

export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

const most = 10;
/** A short run is quiet. */
const leastSeconds = 5;

/** Returns the list with the longest first; files run beside each other, so the times add up to more than the run took. */
export function slowest(times: readonly FileTime[]): string {
  const long = times
    .filter(({ seconds }) => seconds >= leastSeconds)
    .sort((one, other) => other.seconds - one.seconds);
  if (long.length === 0) return '';
  const sum = times.reduce((all, { seconds }) => all + seconds, 0);
  const lines = long
    .slice(0, most)
    .map(({ file, seconds }) => `  ${seconds.toFixed(0).padStart(4)} s ${file}\n`);
  return `slowest of ${times.length} files, ${sum.toFixed(0)} s in all:\n${lines.join('')}`;
}
