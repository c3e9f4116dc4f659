import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fifo } from '../../../src/storage/fifo.ts';

test('a queue returns its oldest item first, and undefined when it is empty', () => {
  const queue = new Fifo<number>();
  assert.equal(queue.shift(), undefined);
  const taken: (number | undefined)[] = [];
  for (let n = 0; n < 100; n++) {
    queue.push(n);
    if (n % 3 > 0) taken.push(queue.shift());
  }
  assert.deepEqual([queue.length, queue.at(0)], [34, 66]);
  while (queue.length > 0) taken.push(queue.shift());
  assert.deepEqual(
    taken,
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.equal(queue.shift(), undefined);
  queue.push(7);
  assert.deepEqual([queue.length, queue.at(0), queue.shift()], [1, 7, 7]);
});
