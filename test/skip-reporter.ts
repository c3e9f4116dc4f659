/** A reporter of node:test that ends a run with what was left out, and lets it fail for what was not to be. */
import { join } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { allowedSkips, judgeSkips, type Skip, skipOf } from './fixtures/skips.ts';

const root = join(import.meta.dirname, '..');

export default async function* (events: AsyncIterable<TestEvent>): AsyncIterable<string> {
  const skips: Skip[] = [];
  for await (const event of events) {
    const skip = skipOf(event, root);
    if (skip) skips.push(skip);
  }
  const { text, refused } = judgeSkips(skips, allowedSkips(process.env.ALLOWED_SKIPS));
  if (refused) process.exitCode = 1;
  yield text;
}
