/**
 * `npm run keep-runs`: moves the runs of the files of the last stages (dist/test-results/runs-STAGE.jsonl) to
 * repeated-runs.jsonl, which is committed. Unit tests are left out: they depend on no other program.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord, recordedStages, withRuns, writeRecord } from './flake-record.ts';

const root = join(import.meta.dirname, '../..');
const results = join(root, 'dist/test-results');
const path = join(import.meta.dirname, 'repeated-runs.jsonl');

const parts = recordedStages.map((stage) => join(results, `runs-${stage}.jsonl`));
const runs = parts
  .flatMap(readRecord)
  .filter(({ file }) => !file.startsWith('..') && existsSync(join(root, file)));
writeRecord(path, withRuns(readRecord(path), runs));
for (const part of parts) rmSync(part, { force: true });
process.stdout.write(`${path}: ${runs.length} files more\n`);
