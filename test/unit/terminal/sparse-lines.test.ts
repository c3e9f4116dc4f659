/** Notes about long work for output that is no terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sparseLines } from '../../../src/terminal/sparse-lines.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function display() {
  const clock = new FakeClock();
  const written: string[] = [];
  return { clock, written, progress: sparseLines((text) => written.push(text), clock) };
}

test('work of less than 30 seconds is not mentioned', async () => {
  const { clock, written, progress } = display();
  const work = progress.begin('deployment/web');
  work.say('0 of 3 pods ready');
  await clock.advance(29_000);
  work[Symbol.dispose]();
  await clock.advance(600_000);
  assert.deepEqual(written, []);
});

test('longer work has a line with its state and age, and another only after a change', async () => {
  const { clock, written, progress } = display();
  using work = progress.begin('deployment/web');
  work.say('0 of 3 pods ready, ErrImagePull');
  await clock.advance(31_000);
  assert.deepEqual(written, ['Note: waiting for deployment/web: 0 of 3 pods ready, ErrImagePull (30 s)\n']);
  await clock.advance(300_000);
  assert.equal(written.length, 1);
  work.say('1 of 3 pods ready');
  work.say('2 of 3 pods ready');
  await clock.advance(30_000);
  assert.deepEqual(written.slice(1), ['Note: waiting for deployment/web: 2 of 3 pods ready (6 min 0 s)\n']);
});

test('an unknown state and control characters are omitted', async () => {
  const { clock, written, progress } = display();
  using work = progress.begin('namespace/\u001b[2Jold');
  await clock.advance(30_000);
  assert.deepEqual(written, ['Note: waiting for namespace/ [2Jold (30 s)\n']);
  work.say('a\nb');
  await clock.advance(30_000);
  assert.equal(written[1], 'Note: waiting for namespace/ [2Jold: a b (1 min 0 s)\n');
});
