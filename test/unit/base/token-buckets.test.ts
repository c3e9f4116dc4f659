import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBuckets } from '../../../src/base/token-buckets.ts';

const limits = { burst: 3, refillMs: 128, keys: 2 };

/** Returns the number of tokens that are available at once. */
function drain(buckets: TokenBuckets, key: string, now: number): number {
  let had = 0;
  while (had < 100 && buckets.take(key, now) === 0) had++;
  return had;
}

test('a bucket starts full, gains one token per interval, and returns the wait', () => {
  const buckets = new TokenBuckets(limits);
  assert.equal(drain(buckets, 'a', 1000), 3);
  assert.equal(buckets.take('a', 1000), 128);
  assert.equal(buckets.take('a', 1032), 96);
  // A request without success costs nothing.
  assert.equal(buckets.take('a', 1096), 32);
  assert.equal(buckets.take('a', 1128), 0);
  assert.equal(buckets.take('a', 1128), 128);
});

test('a bucket never has more tokens than its capacity, even after a long time without use', () => {
  const buckets = new TokenBuckets(limits);
  assert.equal(drain(buckets, 'a', 0), 3);
  assert.equal(drain(buckets, 'a', 1_000_000), 3);
  assert.equal(buckets.take('a', 1_000_064), 64);
});

test('a clock that is set back neither removes nor adds tokens', () => {
  const buckets = new TokenBuckets(limits);
  assert.equal(buckets.take('a', 1000), 0);
  assert.equal(drain(buckets, 'a', 500), 2);
  assert.equal(buckets.take('a', 628), 0);
});

test('each key has a separate bucket; the least recently used one is dropped first', () => {
  const buckets = new TokenBuckets(limits);
  assert.equal(drain(buckets, 'a', 0), 3);
  assert.equal(drain(buckets, 'b', 0), 3);
  assert.notEqual(buckets.take('a', 0), 0);
  assert.equal(drain(buckets, 'c', 0), 3);
  assert.notEqual(buckets.take('a', 0), 0);
  assert.equal(drain(buckets, 'b', 0), 3);
});
