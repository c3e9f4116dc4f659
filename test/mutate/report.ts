/** Results of a run: a table by file and folder, and the mutants that survived. */
import { dirname } from 'node:path';
import type { Mutant } from './mutants.ts';
import type { Outcome } from './outcomes.ts';

export interface FileOutcomes {
  readonly file: string;
  readonly outcomes: readonly (readonly [Mutant, Outcome])[];
}

/** Percentage of a folder's mutants that the tests should detect. */
export const aim = 90;

interface Counts {
  readonly mutants: number;
  readonly caught: number;
  readonly timedOut: number;
  readonly survived: number;
  readonly notRun: number;
  readonly equivalent: number;
  /** Percentage of detected mutants; undefined if there are none to detect. */
  readonly score: number | undefined;
}

export function countsOf(files: readonly FileOutcomes[]): Counts {
  const types = Map.groupBy(
    files.flatMap(({ outcomes }) => outcomes),
    ([, { type }]) => type,
  );
  const count = (type: Outcome['type']) => types.get(type)?.length ?? 0;
  const mutants = files.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
  const real = mutants - count('equivalent');
  return {
    mutants,
    caught: count('caught'),
    timedOut: count('timed out'),
    survived: count('survived'),
    notRun: count('not run'),
    equivalent: count('equivalent'),
    score: real === 0 ? undefined : (100 * (count('caught') + count('timed out'))) / real,
  };
}

/** Folders whose tests are below the aim. */
export const belowAim = (files: readonly FileOutcomes[]): readonly string[] =>
  [...byFolder(files)].flatMap(([folder, inside]) => ((countsOf(inside).score ?? 100) < aim ? [folder] : []));

export function reportOf(files: readonly FileOutcomes[]): string {
  const rows = [
    ...[...byFolder(files)].flatMap(([folder, inside]) => [
      [`${folder}/`, countsOf(inside)] as const,
      ...inside.map((file) => [`  ${file.file.slice(folder.length + 1)}`, countsOf([file])] as const),
    ]),
    ['all', countsOf(files)] as const,
  ].map(([name, counts]) => [
    name,
    ...[
      counts.mutants,
      counts.caught,
      counts.timedOut,
      counts.survived,
      counts.notRun,
      counts.equivalent,
    ].map(String),
    // Rounded down, so that only a full score is 100.
    counts.score === undefined ? '–' : String(Math.floor(counts.score * 10) / 10),
  ]);
  return `${table([['', 'mutants', 'caught', 'timed out', 'survived', 'not run', 'equivalent', 'score'], ...rows])}${survivors(files)}`;
}

const byFolder = (files: readonly FileOutcomes[]) => Map.groupBy(files, ({ file }) => dirname(file));

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function survivors(files: readonly FileOutcomes[]): string {
  const lines = files.flatMap(({ file, outcomes }) =>
    outcomes.flatMap(([{ line, change }, { type }]) =>
      type === 'survived' || type === 'not run'
        ? [`${file}:${line}: ${change}${type === 'not run' ? '   (no test runs it)' : ''}\n`]
        : [],
    ),
  );
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}
