/**
 * `npm run unit`, `conformance`, `integration`, `e2e`: runs the test files of a stage, several at a time, the
 * longest first. `npm run unit -- FOLDER… FILE…` runs only those, and prints the whole output of files that
 * are named by their path.
 */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runStage } from './run-stage.ts';
import { filesOf, stages, UnknownTests } from './stages.ts';

const root = join(import.meta.dirname, '../..');

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      results: { type: 'string', default: join(root, 'dist/test-results') },
      times: { type: 'string', default: join(root, 'node_modules/.cache/test-times.json') },
    },
  });
  const [name, ...names] = positionals;
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) {
    throw new UnknownTests(
      `stage ${name ?? ''} is unknown; there are ${stages.map((one) => one.name).join(', ')}`,
    );
  }
  const files = filesOf(stage, names, root, process.cwd());
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      stopping.abort();
    });
  }
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node');
  // A test that reads an asset would otherwise build it, which takes minutes and counts as the test's own
  // time.
  execFileSync(process.execPath, [join(root, 'build.ts'), '--assets'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const passed = await runStage(stage, {
    root,
    files,
    ...values,
    allowed: process.env.ALLOWED_SKIPS,
    verbose: names.some((named) => /\.test\.\w+$/.test(named)),
    // bin/test prints the counts of all stages at its end; the counts of a single stage could be mistaken for
    // them.
    totals: process.env.MINIK8S_TEST_TOTALS !== 'later',
    signal: stopping.signal,
    out: process.stdout,
  });
  if (!passed) process.exitCode ??= 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UnknownTests)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
