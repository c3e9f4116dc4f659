import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CachedObject } from '../../../src/storage/cache.ts';
import { ObjectIndex } from '../../../src/storage/object-index.ts';

const object = (key: string, revision: number): CachedObject => {
  const metadata = { name: key, uid: key, resourceVersion: String(revision), creationTimestamp: '' };
  const object = { apiVersion: 'v1', kind: 'X', metadata };
  return { key, revision, bytes: Buffer.alloc(0), object, unowned: object };
};

/** Directories beside and inside one another, and names that sort around the slash. */
const parts = ['a', 'a-b', 'a.b', 'b', 'ab'];
const keys = parts.flatMap((one) =>
  ['', ...parts.map((two) => `/${two}`), ...parts.map((two) => `/${two}/x`)].map(
    (rest) => `/r/${one}${rest}`,
  ),
);
const prefixes = [
  '/',
  '/r/',
  '/r',
  '/r/a',
  '/r/a/',
  '/r/a-',
  '/r/a/a',
  '/r/a/a/',
  '/r/a/a/x',
  '/r/ab',
  '/q/',
  '/r/zz',
];

test('every list equals filtering and sorting everything, through any series of changes', () => {
  const index = new ObjectIndex(assert.fail);
  const model = new Map<string, CachedObject>();
  let seed = 1;
  const next = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let step = 0; step < 2000; step++) {
    const key = keys[next(keys.length)] ?? '';
    if (next(3) === 0) {
      index.delete(key);
      model.delete(key);
    } else {
      const changed = object(key, step);
      index.set(changed);
      model.set(key, changed);
    }
    const prefix = prefixes[step % prefixes.length] ?? '/';
    const expected = [...model.keys()].filter((candidate) => candidate.startsWith(prefix)).sort();
    assert.deepEqual(
      index.list(prefix),
      expected.map((candidate) => model.get(candidate)),
    );
    assert.equal(index.get(key), model.get(key));
    assert.equal(index.size, model.size);
  }
});

test('a list is a snapshot that later changes do not affect', () => {
  const index = new ObjectIndex(assert.fail);
  const first = object('/r/a/1', 1);
  index.set(first);
  const list = index.list('/r/a/');
  index.set(object('/r/a/0', 2));
  index.set(object('/r/a/1', 3));
  assert.deepEqual(list, [first]);
});
