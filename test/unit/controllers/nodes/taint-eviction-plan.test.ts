import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/api/core/v1/node/node.ts';
import type { Toleration } from '../../../../src/api/core/v1/types.gen.ts';
import { evictingTaints, minTolerationTime } from '../../../../src/controllers/nodes/taint-eviction-plan.ts';

const taint = (key: string, value?: string): Taint => ({
  key,
  effect: 'NoExecute',
  ...(value !== undefined && { value }),
});
const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

for (const [title, tolerations, taints, expected] of [
  ['nothing tolerated', undefined, [taint('a')], 0],
  ['tolerated forever', [tolerate('a')], [taint('a')], undefined],
  ['tolerated for a while', [tolerate('a', 30)], [taint('a')], 30_000],
  ['tolerated for no time', [tolerate('a', 0)], [taint('a')], 0],
  ['tolerated for less than no time', [tolerate('a', -5)], [taint('a')], 0],
  ['one of two not tolerated', [tolerate('a')], [taint('a'), taint('b')], 0],
  ['the shorter of two', [tolerate('a', 60), tolerate('b', 5)], [taint('a'), taint('b')], 5_000],
  ['one forever and one for a while', [tolerate('a'), tolerate('b', 5)], [taint('a'), taint('b')], 5_000],
  ['the first toleration that fits', [tolerate('a', 60), tolerate('a', 5)], [taint('a')], 60_000],
  ['a toleration of everything', [{ operator: 'Exists' }], [taint('a'), taint('b')], undefined],
  ['another value', [{ key: 'a', operator: 'Equal', value: 'x' }], [taint('a', 'y')], 0],
  ['the same value', [{ key: 'a', operator: 'Equal', value: 'y' }], [taint('a', 'y')], undefined],
  ['another effect tolerated', [{ ...tolerate('a'), effect: 'NoSchedule' }], [taint('a')], 0],
] satisfies [string, Toleration[] | undefined, Taint[], number | undefined][]) {
  test(`${title}: ${expected === undefined ? 'stays' : `${expected} ms`}`, () =>
    assert.equal(minTolerationTime(tolerations, taints), expected));
}

test('only NoExecute evicts', () => {
  const all: Taint[] = [
    taint('a'),
    { key: 'b', effect: 'NoSchedule' },
    { key: 'c', effect: 'PreferNoSchedule' },
  ];
  assert.deepEqual(evictingTaints(all), [taint('a')]);
  assert.deepEqual(evictingTaints(undefined), []);
});
