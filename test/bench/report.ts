/** Result of a benchmark: measured values beside the floor that was measured in the same run. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The best possible value on this machine, measured in the same run. */
  readonly floor?: { readonly what: string; readonly value: number };
  /** Target, such as `< 100` or `≥ 1.5× floor`. */
  readonly target?: string;
  readonly met?: boolean;
}

export interface Benchmark {
  readonly name: string;
  readonly run: () => Promise<readonly Row[]>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Returns the milliseconds that `work` takes, measured `runs` times. */
export async function timed(runs: number, work: (run: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await work(run);
    times.push(performance.now() - start);
  }
  return times;
}

const round = (value: number) => (Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10);

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.what,
    `${round(row.value)} ${row.unit}`,
    row.floor ? `${round(row.floor.value)} ${row.unit} (${row.floor.what})` : '',
    row.target ?? '',
    row.met === undefined ? '' : row.met ? 'met' : 'MISSED',
  ]);
  const table = [['what', 'measured', 'floor', 'target', ''], ...cells];
  const widths = [0, 1, 2, 3, 4].map((i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  for (const line of table) {
    process.stdout.write(
      `${line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}
