/** Work on several objects, of which some fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachReported } from '../../../src/cli/for-each-reported.ts';

function reporting() {
  const reported: unknown[] = [];
  const interrupt = new AbortController();
  const context = { io: { signal: interrupt.signal }, report: (error: unknown) => void reported.push(error) };
  return { context, reported, interrupt };
}

test('items after one that fails are still processed, in order', async () => {
  const { context, reported } = reporting();
  const done: string[] = [];
  const failure = new Error('b failed');
  await forEachReported(context, ['a', 'b', 'c'], async (item) => {
    if (item === 'b') throw failure;
    done.push(item);
  });
  assert.deepEqual(done, ['a', 'c']);
  assert.deepEqual(reported, [failure]);
});

test('an error is reported with the explanation for its item', async () => {
  const { context, reported } = reporting();
  const fail = async () => Promise.reject(new Error('no'));
  await forEachReported(context, [1, 2], fail, (error, item) => `${item}: ${String(error)}`);
  assert.deepEqual(reported, ['1: Error: no', '2: Error: no']);
});

test('an interrupt ends the work with the error, which is not reported', async () => {
  const { context, reported, interrupt } = reporting();
  const done: number[] = [];
  const work = forEachReported(context, [1, 2], async (item) => {
    done.push(item);
    interrupt.abort();
    throw new Error('aborted');
  });
  await assert.rejects(work, { message: 'aborted' });
  assert.deepEqual([done, reported], [[1], []]);
});
