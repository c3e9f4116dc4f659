/**
 * `npm run flakes -- FILE… [--times 30]`: runs each test file repeatedly, alone, and counts its failures.
 * `npm run flakes -- --record PATH --owed 20 [STAGE…]`: runs the files of stages (integration, e2e and
 * conformance unless named) that have fewer than 20 runs in the record, those with the fewest first, and
 * `--times` runs at most before the next file. Both take:
 *
 * - `--load`: keeps two processors busy meanwhile.
 * - `--record PATH`: appends the counts of each file to PATH, as a line of JSON (flake-record.ts).
 * - `--minutes M`: starts no run after M minutes.
 * - `--json`: prints the counts as JSON.
 *
 * Exits with 1 if a run failed.
 */
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { appendEntry, commitOf, owedRuns, readRecord, recordedStages } from './flake-record.ts';
import { startLoad } from './load.ts';
import { runProcess } from './process.ts';
import { filesOf, type Stage, stages, UnknownTests } from './stages.ts';

const root = join(import.meta.dirname, '../..');
const loadProcesses = 2;
const usage =
  'usage: npm run flakes -- {FILE… | --record PATH --owed N [STAGE…]} [--times 30] [--minutes M] [--load] [--json]';

interface Count {
  readonly file: string;
  readonly runs: number;
  readonly failures: number;
  /** Test and text of the first failure; empty when there is none. */
  readonly first: string;
}

interface Options {
  /** Maximum number of runs of a file before the next file. */
  readonly times: number;
  readonly record: string | undefined;
  /** Number of runs in the record at which a file needs no more; undefined when files are named. */
  readonly owed: number | undefined;
  readonly load: boolean;
  readonly json: boolean;
  /** Returns whether no further run may start. */
  readonly isOver: () => boolean;
  /** Ends the current run. */
  readonly signal: AbortSignal;
}

// Files outside the stages, such as walks, have the limits of the end-to-end tests.
const stageOf = (file: string) =>
  stages.find(({ name }) => file.startsWith(`test/${name}/`)) ?? (stages.at(-1) as Stage);

async function countFailures(file: string, times: number, { signal, isOver }: Options): Promise<Count> {
  const { testTimeoutMs, processTimeoutMs } = stageOf(file);
  const limits = { testTimeoutMs, processTimeoutMs, signal };
  let count: Count = { file, runs: 0, failures: 0, first: '' };
  while (count.runs < times && !isOver()) {
    const { files } = await runProcess({ files: [file], root, ...limits, print: () => {} });
    if (signal.aborted) break;
    const failures = files[0]?.failures ?? [];
    const [failure] = failures;
    count = {
      file,
      runs: count.runs + 1,
      failures: count.failures + (failure === undefined ? 0 : 1),
      first: count.first || (failure === undefined ? '' : `${failure.test}: ${failure.text}`),
    };
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progressOf(count, times)}`);
  }
  process.stderr.write(process.stderr.isTTY ? '\r\x1b[K' : `${progressOf(count, times)}\n`);
  return count;
}

const progressOf = ({ file, runs, failures }: Count, times: number) =>
  `${file}: ${runs} of ${times}, ${failures} failed`;

const row = (cells: readonly (string | number)[]) =>
  `${String(cells[0]).padStart(5)} ${String(cells[1]).padStart(8)}  ${cells[2]}\n`;

function tableOf(counts: readonly Count[]): string {
  const lines = counts.map(({ file, runs, failures, first }) => {
    const text = first === '' ? '' : `${first.replaceAll(/^/gm, '                  ')}\n`;
    return `${row([runs, failures, file])}${text}`;
  });
  return `${row(['runs', 'failures', 'file'])}${lines.join('')}`;
}

/** Returns the named files, or all files of the named stages if the record decides. Throws UnknownTests. */
function filesNamed(names: readonly string[], { owed }: Options): string[] {
  if (owed === undefined)
    return names.flatMap((name) => filesOf(stageOf(relative(root, name)), [name], root, process.cwd()));
  return (names.length > 0 ? names : recordedStages).flatMap((name) => {
    const stage = stages.find((one) => one.name === name);
    if (stage === undefined) throw new UnknownTests(`no stage ${name}; ${usage}`);
    return filesOf(stage, [], root, root);
  });
}

/** Returns the next file and the number of its runs; the record is read again because others may write it. */
function nextVisit(files: string[], { owed, record, times }: Options): [string, number] | undefined {
  if (owed === undefined || record === undefined) {
    const file = files.shift();
    return file === undefined ? undefined : [file, times];
  }
  const [next] = owedRuns(files, readRecord(record), owed);
  return next === undefined ? undefined : [next.file, Math.min(next.runs, times)];
}

async function visitAll(files: string[], options: Options): Promise<Count[]> {
  const { record, load } = options;
  const counts: Count[] = [];
  while (!options.isOver()) {
    const visit = nextVisit(files, options);
    if (visit === undefined) break;
    const commit = commitOf(root);
    const count = await countFailures(...visit, options);
    if (count.runs === 0) break;
    counts.push(count);
    if (record !== undefined) appendEntry(record, { ...count, load, date: new Date().toISOString(), commit });
  }
  return counts;
}

function readOptions(): { names: string[]; options: Options } {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      times: { type: 'string', default: '30' },
      record: { type: 'string' },
      owed: { type: 'string' },
      minutes: { type: 'string' },
      load: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const numbers = [values.times, values.owed, values.minutes].filter((value) => value !== undefined);
  const complete = values.owed === undefined ? names.length > 0 : values.record !== undefined;
  if (!complete || !numbers.every((value) => /^[1-9]\d*$/.test(value))) throw new UnknownTests(usage);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      stopping.abort();
    });
  }
  const endMs = performance.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const { signal } = stopping;
  const isOver = () => signal.aborted || performance.now() >= endMs;
  const { record, load, json } = values;
  const owed = values.owed === undefined ? undefined : Number(values.owed);
  return { names, options: { times: Number(values.times), record, owed, load, json, isOver, signal } };
}

async function main(): Promise<void> {
  const { names, options } = readOptions();
  const files = filesNamed(names, options);
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node');
  const endLoad = startLoad(options.load ? loadProcesses : 0);
  let counts: Count[] = [];
  try {
    counts = await visitAll(files, options);
  } finally {
    endLoad();
  }
  process.stdout.write(options.json ? `${JSON.stringify(counts, undefined, 2)}\n` : tableOf(counts));
  if (counts.some(({ failures }) => failures > 0)) process.exitCode ??= 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UnknownTests)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
