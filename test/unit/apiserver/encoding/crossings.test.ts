/** Watches whose selection an object enters or leaves share the encoded event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crossings } from '../../../../src/apiserver/encoding/framing.ts';
import { Budget, MadeOnce } from '../../../../src/apiserver/encoding/made.ts';
import type { CacheEvent } from '../../../../src/storage/cache.ts';
import { changed } from '../watch-body.ts';

test('an event is encoded once for all watches whose selection the object enters, and once for all watches whose selection it leaves', () => {
  const made: string[] = [];
  const frame = (type: CacheEvent['type'], { key }: { readonly key: string }, revision: number) => {
    made.push(`${type} ${key}@${revision}`);
    return Buffer.from(made.at(-1) ?? '');
  };
  const budget = new Budget(1000);
  const shared = crossings(frame, { entered: new MadeOnce(budget), left: new MadeOnce(budget) });
  const event = changed('a', 11);
  const { current } = event;
  for (let watch = 0; watch < 3; watch++) {
    assert.equal(shared.entered(event).toString(), 'ADDED a@11');
    assert.equal(shared.left(event, current).toString(), 'DELETED a@11');
  }
  assert.deepEqual(made, ['ADDED a@11', 'DELETED a@11']);
});
