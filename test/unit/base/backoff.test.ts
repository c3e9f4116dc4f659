import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff, backoffMs } from '../../../src/base/backoff.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

test('the wait doubles with each consecutive failure, up to the maximum', () => {
  const options = { initialMs: 50, maxMs: 300 };
  assert.deepEqual(
    [-1, 0, 1, 2, 3, 4, 5, 5_000].map((failures) => backoffMs(options, failures)),
    [0, 0, 50, 100, 200, 300, 300, 300],
  );
  assert.equal(backoffMs({ ...options, factor: 3 }, 2), 150);
  const backoff = new Backoff(options);
  assert.deepEqual([backoff.next(), backoff.next(), backoff.next()], [50, 100, 200]);
  backoff.reset();
  assert.equal(backoff.next(), 50);
});

test('with jitter each wait is up to twice as long, and waits differ', () => {
  const waits = () => new Backoff({ initialMs: 100, maxMs: 100 }, random).next();
  const random = new SeededRandom(3);
  const found = Array.from({ length: 50 }, waits);
  for (const ms of found) assert.ok(ms >= 100 && ms < 200, String(ms));
  assert.ok(new Set(found).size > 40);
});
