/** Objects by their fields: the index matches the cache at every moment. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { CachedObject, CacheIndex, IndexDeclaration } from '../../../src/storage/cache.ts';
import { ObjectIndex } from '../../../src/storage/object-index.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { body, key, withCache } from './cache-fixture.ts';

/** Index of pods by the words of their note. */
const byWord: IndexDeclaration = {
  name: 'pods by word',
  prefix: '/registry/pods/',
  keysOf: (object) => (object as unknown as { spec: { note: string } }).spec.note.split(' '),
};
const cached = (at: string, note: unknown): CachedObject => ({
  key: at,
  revision: 1,
  bytes: Buffer.alloc(0),
  object: { spec: { note } } as unknown as KubeObject,
  unowned: { spec: { note } } as unknown as KubeObject,
});
const found = (index: CacheIndex, word: string) => index.get(word).map((object) => object.key);

describe('an index', () => {
  it('follows creations, changes and deletions of objects of its kind, before and after its own creation', () => {
    const objects = new ObjectIndex(assert.fail);
    objects.set(cached(key('a'), 'red blue'));
    objects.set(cached('/registry/podtemplates/default/a', 'red'));
    const index = objects.secondary(byWord);
    assert.equal(objects.secondary(byWord), index);
    assert.deepEqual(found(index, 'red'), [key('a')]);
    objects.set(cached(key('b'), 'red red'));
    objects.set(cached('/registry/services/default/b', 'red'));
    assert.deepEqual(found(index, 'red'), [key('a'), key('b')]);
    const changed = cached(key('a'), 'blue green');
    objects.set(changed);
    assert.deepEqual([found(index, 'red'), found(index, 'green')], [[key('b')], [key('a')]]);
    assert.equal(index.get('blue')[0], changed);
    objects.delete(key('b'));
    objects.delete('/registry/services/default/b');
    assert.deepEqual([found(index, 'red'), index.has('red'), index.has('blue')], [[], false, true]);
  });

  it('leaves out an object whose keys cannot be read', () => {
    const unreadable: string[] = [];
    const objects = new ObjectIndex((at) => unreadable.push(at));
    const index = objects.secondary(byWord);
    objects.set(cached(key('a'), 'red'));
    objects.set(cached(key('a'), undefined));
    assert.deepEqual([found(index, 'red'), unreadable], [[], [key('a')]]);
    objects.set(cached(key('a'), 'red'));
    assert.deepEqual(found(index, 'red'), [key('a')]);
  });

  it('equals a search of all objects, after any changes', () => {
    const random = new SeededRandom(3);
    const objects = new ObjectIndex(assert.fail);
    const index = objects.secondary(byWord);
    const words = ['a', 'b', 'c', 'd'];
    for (let round = 0; round < 500; round++) {
      const at = key(`p${random.below(6)}`, `n${random.below(2)}`);
      if (random.below(3) === 0) objects.delete(at);
      else objects.set(cached(at, words.filter(() => random.below(2) === 0).join(' ')));
      for (const word of words) {
        const scanned = objects
          .list(byWord.prefix)
          .filter(({ object }) => [...byWord.keysOf(object)].includes(word));
        assert.deepEqual(
          found(index, word).sort(),
          scanned.map((object) => object.key),
        );
      }
    }
  });
});

test('an index of the watch cache is at the revision of the cache, after events and after a list', () =>
  withCache(async ({ cache, store, clock, loseHistory }) => {
    const index = cache.index(byWord);
    const revision = await store.create(key('a'), body('a', 'red'));
    await clock.settle();
    assert.deepEqual([cache.revision, found(index, 'red')], [revision, [key('a')]]);
    loseHistory();
    await store.delete(key('a'), revision);
    const last = await store.create(key('b'), body('b', 'red'));
    await clock.settle();
    assert.deepEqual([cache.revision, found(index, 'red')], [revision, [key('a')]]);
    await clock.advance(10_000);
    assert.deepEqual([cache.revision, found(index, 'red')], [last, [key('b')]]);
  }));
