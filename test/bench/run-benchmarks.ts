/**
 * Runs the named benchmarks, or all if none is named. Prints a table, and the same data as JSON in the last
 * line.
 */
import { type Benchmark, printTable, type Row } from './report.ts';

/** Exits with status 2 if a name is unknown, otherwise with 0, even if targets were missed. */
export async function runBenchmarks(
  benchmarks: readonly Benchmark[],
  wanted: readonly string[],
): Promise<never> {
  const unknown = wanted.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0) {
    process.stderr.write(
      `error: no benchmark ${unknown.join(', ')}; known: ${benchmarks.map((b) => b.name).join(', ')}\n`,
    );
    process.exit(2);
  }
  const rows: (Row & { readonly benchmark: string })[] = [];
  for (const benchmark of benchmarks) {
    if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue;
    process.stderr.write(`${benchmark.name} …\n`);
    for (const row of await benchmark.run()) rows.push({ benchmark: benchmark.name, ...row });
  }
  printTable(rows);
  process.stdout.write(`${JSON.stringify(rows)}\n`);
  process.exit(0);
}
