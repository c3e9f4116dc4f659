/**
 * `npm run unit`: every unit test. The files of one folder share a process. Those at the top look at the whole repository, and have
 * one each. `npm run unit -- FOLDER…`: those alone.
 */
import { globSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { entriesOf } from '../grouped.ts';
import { runAndReport } from '../report.ts';

const concurrency = 2;
const testTimeoutMs = 60_000;
const folderTimeoutMs = 300_000;
const folder = import.meta.dirname;
const entries = join(folder, '../../node_modules/.cache/unit-tests');

const files = globSync(join(folder, '**/*.test.ts')).sort();
const folders = Map.groupBy(files, (file) => relative(folder, file).split(sep).slice(0, -1)[0] ?? '');
const named = process.argv.slice(2);
const unknown = named.filter((name) => !folders.has(name));
if (unknown.length > 0) {
  process.stderr.write(
    `there are no unit tests in ${unknown.join(', ')}; there are: ${[...folders.keys()].join(' ')}\n`,
  );
  process.exit(2);
}

const chosen = [...folders].filter(([name]) => named.length === 0 || named.includes(name));
const alone = chosen.flatMap(([name, tests]) => (name === '' ? tests : []));
const groups = chosen
  .filter(([name]) => name !== '')
  .map(([name, tests]) => ({ name, files: tests }))
  .sort((one, other) => other.files.length - one.files.length);
runAndReport({
  files: [...entriesOf(groups, folder, entries), ...alone],
  concurrency,
  timeout: folderTimeoutMs,
  execArgv: [`--test-timeout=${testTimeoutMs}`],
});
