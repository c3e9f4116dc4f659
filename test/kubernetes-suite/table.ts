/** Results counted by area, as people read them. Pure. */
import { causeOf } from './causes.ts';
import type { Recorded, Results } from './results.ts';

export interface Count {
  readonly area: string;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
}

/** Such as `sig-network`. */
export const areaOf = (name: string) => /^\[([^\]]+)\]/.exec(name)?.[1] ?? 'no area';

/** One line an area of the tests named, the sum last. What the suite skipped has not run. */
export function counts(names: readonly string[], results: Results): Count[] {
  const areas = [...new Set(names.map(areaOf))].sort();
  const line = (area: string, inside: readonly string[]): Count => {
    const states = inside.map((name) => results.get(name)?.state);
    const passed = states.filter((state) => state === 'passed').length;
    const failed = states.filter((state) => state === 'failed').length;
    return { area, passed, failed, notRun: inside.length - passed - failed };
  };
  return [
    ...areas.map((area) =>
      line(
        area,
        names.filter((name) => areaOf(name) === area),
      ),
    ),
    line('all', names),
  ];
}

/** The table and, before it, each failure with what it said. */
export function tableOf(names: readonly string[], results: Results): string {
  const failures = failuresOf(names, results).map(
    (result) => `failed  ${result.name}\n          ${result.message}\n`,
  );
  const rows = [['', 'passed', 'failed', 'not run'], ...counts(names, results).map(cells)];
  const [areas = [], ...numbers] = [0, 1, 2, 3].map((column) => rows.map((row) => row[column] ?? ''));
  const widthOf = (column: readonly string[]) => Math.max(...column.map(({ length }) => length));
  const lines = rows.map((row) =>
    [
      (row[0] ?? '').padEnd(widthOf(areas)),
      ...numbers.map((column, index) => (row[index + 1] ?? '').padStart(widthOf(column))),
    ].join('  '),
  );
  return `${failures.join('')}${failures.length > 0 ? '\n' : ''}${lines.join('\n')}\n`;
}

export function failuresOf(names: readonly string[], results: Results): Recorded[] {
  return names.flatMap((name) => {
    const result = results.get(name);
    return result?.state === 'failed' ? [result] : [];
  });
}

/** Failures by what is behind them, the most frequent first, those that nobody has explained last. */
export function byCause(failures: readonly Recorded[]): [cause: string | undefined, tests: Recorded[]][] {
  const groups = Map.groupBy(failures, causeOf);
  return [...groups].sort(([one, tests], [other, others]) =>
    one === undefined ? 1 : other === undefined ? -1 : others.length - tests.length,
  );
}

const cells = ({ area, passed, failed, notRun }: Count) => [area, ...[passed, failed, notRun].map(String)];
