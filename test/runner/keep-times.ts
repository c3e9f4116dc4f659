/**
 * `npm run keep-times`: copies the longest times of the last runs to usual-times.json, which is committed.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTimes, usualTimes, writeTimes } from './times.ts';

const root = join(import.meta.dirname, '../..');
const minSeconds = 8;

const times = { ...readTimes(usualTimes), ...readTimes(join(root, 'node_modules/.cache/test-times.json')) };
const long = Object.entries(times)
  .filter(
    ([file, seconds]) => seconds >= minSeconds && !file.startsWith('..') && existsSync(join(root, file)),
  )
  .map(([file, seconds]) => [file, Math.round(seconds)]);
writeTimes(usualTimes, Object.fromEntries(long));
process.stdout.write(`${usualTimes}: ${long.length} files\n`);
