import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';

const kind = (plural: string) => ({ group: 'example.com', version: 'v1', plural }) as ResourceDefinition;

test('kinds are replaced in one change, and the signals of the removed ones abort', () => {
  const kinds = new KindSet([kind('fixed')]);
  const [before, after] = [kind('as'), kind('as')];
  kinds.add(before);
  const removal = kinds.removalOf(before);
  const seen: (ResourceDefinition | undefined)[] = [];
  kinds.onChange(() => seen.push(kinds.find('example.com', 'v1', 'as')));
  kinds.replace([before], [after, kind('bs')]);
  assert.deepEqual([seen.length, seen[0] === after, removal?.aborted], [1, true, true]);
  assert.deepEqual(
    kinds.all.map(({ plural }) => plural),
    ['fixed', 'as', 'bs'],
  );
});

test('a replacement that fails changes nothing', () => {
  const kinds = new KindSet([kind('fixed')]);
  const one = kind('as');
  kinds.add(one);
  const { all } = kinds;
  assert.throws(() => kinds.replace([one], [kind('fixed')]), /two definitions serve/);
  assert.throws(() => kinds.replace([kind('as')], []), /cannot be removed: it was not added/);
  assert.deepEqual([kinds.all === all, kinds.removalOf(one)?.aborted], [true, false]);
});
