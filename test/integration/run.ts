/**
 * `npm run integration`: every integration test, several files at a time. Some files of one folder share a process, but for those that
 * need this machine for themselves, which have it until their process ends. `npm run integration -- FOLDER…`: those alone.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { entriesOf, type Group } from '../grouped.ts';
import { runAndReport } from '../report.ts';

const concurrency = 3;
const testTimeoutMs = 300_000;
const groupTimeoutMs = 900_000;
/** Of a group: enough to share the loading, and few enough for several groups at a time to the end. */
const mostFiles = 4;
/** Those whose files take longest, which begin first: at the end nobody waits for one of them alone. */
const longFirst = ['triggers', 'cli', 'slurm', 'streaming', 'controllers', 'monitoring'];
const folder = import.meta.dirname;
const entries = join(folder, '../../node_modules/.cache/integration-tests');

const files = globSync(join(folder, '*/*.test.ts')).sort();
const folderOf = (file: string) => relative(folder, file).split(sep)[0] ?? '';
const folders = new Set(files.map(folderOf));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !folders.has(name));
if (unknown.length > 0) {
  process.stderr.write(
    `there are no integration tests in ${unknown.join(', ')}; there are: ${[...folders].join(' ')}\n`,
  );
  process.exit(2);
}

/** It has the machine, or changes what the whole process has. */
const needsProcess = (file: string) =>
  /\blockMachine\(|process\.env\.\w+ =|delete process\.env/.test(readFileSync(file, 'utf8'));

function groupsOf(name: string, tests: readonly string[]): Group[] {
  const count = Math.ceil(tests.length / mostFiles);
  return Array.from({ length: count }, (_, index) => ({
    name: count === 1 ? name : `${name}-${index + 1}`,
    files: tests.filter((_, at) => at % count === index),
  }));
}

const chosen = files.filter((file) => named.length === 0 || named.includes(folderOf(file)));
const { alone = [], shared = [] } = Object.groupBy(chosen, (file) =>
  needsProcess(file) ? 'alone' : 'shared',
);
const rank = (name: string) => (longFirst.includes(name) ? longFirst.indexOf(name) : longFirst.length);
const groups = [...Map.groupBy(shared, folderOf)]
  .sort(([one], [other]) => rank(one) - rank(other))
  .flatMap(([name, tests]) => groupsOf(name, tests));
// Those that wait for the machine begin at once, and the others run beside them.
const ready = entriesOf(groups, folder, entries);
const inTurn = Array.from({ length: Math.max(ready.length, alone.length) }, (_, index) =>
  [alone[index], ready[index]].filter((file) => file !== undefined),
).flat();
runAndReport({
  files: inTurn,
  concurrency,
  timeout: groupTimeoutMs,
  execArgv: [`--test-timeout=${testTimeoutMs}`],
});
