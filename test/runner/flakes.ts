/**
 * `npm run flakes -- FILE… [--times 30] [--load] [--json]`: runs each test file repeatedly, alone, and counts
 * its failures. `--load` keeps two processors busy meanwhile. Exits with 1 if a run failed.
 */
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startLoad } from './load.ts';
import { runProcess } from './process.ts';
import { filesOf, type Stage, stages, UnknownTests } from './stages.ts';

const root = join(import.meta.dirname, '../..');
const loadProcesses = 2;

interface Count {
  readonly file: string;
  readonly runs: number;
  readonly failures: number;
  /** Test and text of the first failure; empty when there is none. */
  readonly first: string;
}

async function countFailures(stage: Stage, file: string, times: number, signal: AbortSignal): Promise<Count> {
  const { testTimeoutMs, processTimeoutMs } = stage;
  const limits = { testTimeoutMs, processTimeoutMs, signal };
  let count: Count = { file, runs: 0, failures: 0, first: '' };
  while (count.runs < times && !signal.aborted) {
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
    if (process.stderr.isTTY)
      process.stderr.write(`\r\x1b[K${file}: ${count.runs} of ${times}, ${count.failures} failed`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return count;
}

const row = (cells: readonly (string | number)[]) =>
  `${String(cells[0]).padStart(5)} ${String(cells[1]).padStart(8)}  ${cells[2]}\n`;

function tableOf(counts: readonly Count[]): string {
  const lines = counts.map(({ file, runs, failures, first }) => {
    const text = first === '' ? '' : `${first.replaceAll(/^/gm, '                  ')}\n`;
    return `${row([runs, failures, file])}${text}`;
  });
  return `${row(['runs', 'failures', 'file'])}${lines.join('')}`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      times: { type: 'string', default: '30' },
      load: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const times = Number(values.times);
  if (positionals.length === 0 || !Number.isInteger(times) || times < 1)
    throw new UnknownTests('usage: npm run flakes -- FILE… [--times 30] [--load] [--json]');
  // Files outside the stages, such as walks, have the limits of the end-to-end tests.
  const stageOf = (file: string) =>
    stages.find(({ name }) => file.startsWith(`test/${name}/`)) ?? (stages.at(-1) as Stage);
  const files = positionals.flatMap((name) => {
    const stage = stageOf(relative(root, name));
    return filesOf(stage, [name], root, process.cwd()).map((file) => [stageOf(file), file] as const);
  });
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      stopping.abort();
    });
  }
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node');
  const endLoad = startLoad(values.load ? loadProcesses : 0);
  const counts: Count[] = [];
  try {
    for (const [stage, file] of files)
      if (!stopping.signal.aborted) counts.push(await countFailures(stage, file, times, stopping.signal));
  } finally {
    endLoad();
  }
  process.stdout.write(values.json ? `${JSON.stringify(counts, undefined, 2)}\n` : tableOf(counts));
  if (counts.some(({ failures }) => failures > 0)) process.exitCode ??= 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UnknownTests)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
