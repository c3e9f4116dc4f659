import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLineDue, progressLine } from '../../runner/progress.ts';

test('a line of progress has the stage, the numbers of files that are done and of all, and the time left', () => {
  const progress = { stage: 'e2e', done: 12, all: 50, failed: 0, secondsLeft: 400.5, running: ['a', 'b'] };
  assert.equal(progressLine(progress), 'e2e: 12 of 50 files, about 7 min left; a, b');
  assert.equal(
    progressLine({ ...progress, failed: 1, secondsLeft: 20.2 }),
    'e2e: 12 of 50 files, 1 failed, about 21 s left; a, b',
  );
});

test('a line of progress is due at each tenth of the files, and half a minute after the last', () => {
  const last = { done: 4, atMs: 0 };
  assert.equal(isLineDue(last, 4, 50, 29_999), false);
  assert.equal(isLineDue(last, 4, 50, 30_000), true);
  assert.equal(isLineDue(last, 5, 50, 1), true);
  assert.equal(isLineDue({ done: 5, atMs: 0 }, 9, 50, 1), false);
});
