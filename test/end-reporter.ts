/**
 * A reporter of node:test that ends a run with the files that took longest and with what was left out, and lets the run fail for
 * what was not to be left out.
 */
import { join } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { allowedSkips, judgeSkips, type Skip, skipOf } from './fixtures/skips.ts';
import { type FileTime, slowest, timeOf } from './fixtures/slowest.ts';

const root = join(import.meta.dirname, '..');

export default async function* (events: AsyncIterable<TestEvent>): AsyncIterable<string> {
  const skips: Skip[] = [];
  const times: FileTime[] = [];
  for await (const event of events) {
    const skip = skipOf(event, root);
    if (skip) skips.push(skip);
    const time = timeOf(event, root);
    if (time) times.push(time);
  }
  yield slowest(times);
  const { text, refused } = judgeSkips(skips, allowedSkips(process.env.ALLOWED_SKIPS));
  if (refused) process.exitCode = 1;
  yield text;
}
