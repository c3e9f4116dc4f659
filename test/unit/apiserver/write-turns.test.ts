import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { WriteTurns } from '../../../src/apiserver/write-turns.ts';
import { systemClock } from '../../../src/base/clock.ts';

const MB = 1024 * 1024;

test('small writes are made at once, also by many writers', () => {
  const turns = new WriteTurns(systemClock);
  for (let count = 0; count < 256; count++) assert.equal(turns.mayWrite(100), true, `${count}`);
  assert.equal(turns.mayWrite(100), false, 'a write costs something, however little it writes');
});

test('large writes are made in order, and some wait for a later turn', async () => {
  const turns = new WriteTurns(systemClock);
  assert.equal(turns.mayWrite(8 * MB), true, 'one write is never divided');
  const written: number[] = [];
  for (let number = 0; number < 6; number++) {
    assert.equal(turns.mayWrite(2 * MB), false);
    turns.wait(() => {
      written.push(number);
      return 2 * MB;
    });
  }
  assert.deepEqual(written, []);
  await setImmediate();
  assert.deepEqual(written, [0, 1]);
  assert.equal(turns.mayWrite(1), false, 'a write does not overtake a waiting one');
  await setImmediate();
  assert.deepEqual(written, [0, 1, 2, 3]);
  await setImmediate();
  assert.deepEqual(written, [0, 1, 2, 3, 4, 5]);
  await setImmediate();
  assert.equal(turns.mayWrite(1), true);
});

test('a waiting writer is called in the next turn, and no other writes before it', async () => {
  const turns = new WriteTurns(systemClock);
  let written = 0;
  turns.wait(() => ++written);
  assert.equal(turns.mayWrite(1), false);
  await setImmediate();
  assert.equal(written, 1);
  assert.equal(turns.mayWrite(1), true);
});

test('a writer that has ended is not called', async () => {
  const turns = new WriteTurns(systemClock);
  let written = 0;
  const write = () => ++written;
  turns.wait(write);
  turns.leave(write);
  await setImmediate();
  await setImmediate();
  assert.equal(written, 0);
});
