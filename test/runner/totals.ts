/**
 * Prints the last lines of bin/test: the times of the stages, the slowest files of all stages, and the
 * counts. `node test/runner/totals.ts FOLDER` reads STAGE.json of each stage that ended, and stages.txt with
 * a line for each stage.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageResult } from './run-stage.ts';
import { slowest } from './slowest.ts';
import { totalLines } from './verdict.ts';

const folder = process.argv[2] ?? '';
const results = globSync(join(folder, '*.json')).map(
  (path) => JSON.parse(readFileSync(path, 'utf8')) as StageResult,
);
const sum = (of: (result: StageResult) => number) => results.reduce((all, result) => all + of(result), 0);

process.stdout.write(
  `\nseconds by stage, and processor seconds of the machine meanwhile:\n${readFileSync(join(folder, 'stages.txt'), 'utf8')}`,
);
process.stdout.write(
  slowest(
    results.flatMap(({ files }) => files),
    sum(({ loadingSeconds }) => loadingSeconds),
  ),
);
// A run that failed before its first test has no counts, because zero failures would look like success.
if (results.length > 0) {
  process.stdout.write(
    totalLines({
      passed: sum(({ passed }) => passed),
      failed: sum(({ failed }) => failed),
      skipped: sum(({ skipped }) => skipped),
      flaky: results.flatMap(({ flaky }) => flaky),
    }),
  );
}
