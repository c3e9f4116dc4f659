/** Values over time, as charts draw them. Pure. */

export interface Series {
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
  /** A list for each line, as long as the times; null where a value is unknown. */
  readonly lines: readonly (readonly (number | null)[])[];
}

export const emptySeries = (lines: number): Series => ({
  times: [],
  lines: Array.from({ length: lines }, () => []),
});

/** Returns the series with the values at a time; values that are more than `keptMs` older are left out. */
export function withSample(
  series: Series,
  atMs: number,
  values: readonly (number | null)[],
  keptMs: number,
): Series {
  const from = series.times.findIndex((time) => time >= atMs - keptMs);
  const start = from === -1 ? series.times.length : from;
  return {
    times: [...series.times.slice(start), atMs],
    lines: series.lines.map((line, i) => [...line.slice(start), values[i] ?? null]),
  };
}

export interface Counted {
  readonly atMs: number;
  readonly total: number;
}

/** Returns the rate of a counter per second; null after a restart of the process, or without time between. */
export function rateOf(before: Counted | undefined, now: Counted): number | null {
  if (!before || now.atMs <= before.atMs || now.total < before.total) return null;
  return ((now.total - before.total) * 1000) / (now.atMs - before.atMs);
}
