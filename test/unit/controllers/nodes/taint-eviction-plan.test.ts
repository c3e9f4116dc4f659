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
  ['a taint tolerated for a limited time', [tolerate('a', 30)], [taint('a')], 30_000],
  ['a taint tolerated for 0 seconds', [tolerate('a', 0)], [taint('a')], 0],
  ['a taint tolerated for a negative time', [tolerate('a', -5)], [taint('a')], 0],
  ['one of two taints not tolerated', [tolerate('a')], [taint('a'), taint('b')], 0],
  ['the shorter of two tolerations', [tolerate('a', 60), tolerate('b', 5)], [taint('a'), taint('b')], 5_000],
  [
    'one taint tolerated forever and one for a limited time',
    [tolerate('a'), tolerate('b', 5)],
    [taint('a'), taint('b')],
    5_000,
  ],
  ['the first matching toleration', [tolerate('a', 60), tolerate('a', 5)], [taint('a')], 60_000],
  ['a toleration of everything', [{ operator: 'Exists' }], [taint('a'), taint('b')], undefined],
  ['another value', [{ key: 'a', operator: 'Equal', value: 'x' }], [taint('a', 'y')], 0],
  ['the same value', [{ key: 'a', operator: 'Equal', value: 'y' }], [taint('a', 'y')], undefined],
  ['a toleration of another effect', [{ ...tolerate('a'), effect: 'NoSchedule' }], [taint('a')], 0],
] satisfies [string, Toleration[] | undefined, Taint[], number | undefined][]) {
  test(`a pod with ${title} ${expected === undefined ? 'is not evicted' : `is evicted after ${expected} ms`}`, () =>
    assert.equal(minTolerationTime(tolerations, taints), expected));
}

test('only taints with the effect NoExecute evict pods', () => {
  const all: Taint[] = [
    taint('a'),
    { key: 'b', effect: 'NoSchedule' },
    { key: 'c', effect: 'PreferNoSchedule' },
  ];
  assert.deepEqual(evictingTaints(all), [taint('a')]);
  assert.deepEqual(evictingTaints(undefined), []);
});
