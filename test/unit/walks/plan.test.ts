import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { kinds, mostAtOnce, nextDisturbance } from '../../walks/master-kills/plan.ts';
import { recorded, summary } from '../../walks/master-kills/record.ts';
import type { SliceResult } from '../../walks/master-kills/slice.ts';

const drawn = (seed: number, disturbed: readonly number[]) => {
  const random = new SeededRandom(seed);
  return Array.from({ length: 300 }, () => nextDisturbance(random, 3, new Set(disturbed)));
};

test('the same seed draws the same disturbances, of every kind and every master', () => {
  const all = drawn(7, []);
  assert.deepEqual(drawn(7, []), all);
  assert.notDeepEqual(drawn(8, []), all);
  assert.deepEqual(new Set(all.map(({ kind }) => kind)), new Set(kinds));
  assert.deepEqual(new Set(all.map(({ master }) => master)), new Set([0, 1, 2]));
});

test('a master that is disturbed is left alone, and no disk is emptied beside it', () => {
  const all = drawn(7, [0, 2]);
  assert.ok(all.every(({ master, kind }) => master === 1 && kind !== 'refill'));
  assert.throws(() => nextDisturbance(new SeededRandom(7), 3, new Set([0, 1, 2])), /every master/);
});

test('most disturbances wait for the end of the previous one, some do not', () => {
  const random = new SeededRandom(7);
  const all = Array.from({ length: 1000 }, () => mostAtOnce(random));
  assert.ok(all.filter((most) => most === 1).length > 700);
  assert.ok(all.includes(2) && all.includes(3));
});

const slice = (seed: number, kills: number): SliceResult => ({
  ...{ seed, masters: 3, kills: { 'kill etcd': kills, refill: 1 }, acknowledged: 10, unknown: 1, refused: 0 },
  ...{ reads: 2, events: 30, watches: 4, longestGapMs: 100 * seed, seconds: 5, faults: [] },
});

test('a record has the clusters of several walks, of which one continues', () => {
  const lines = [1, 2].map((seed) => JSON.stringify({ walk: seed, ...slice(seed, 5) }));
  const found = recorded(`${lines.join('\n')}\n`, 2, 3);
  assert.deepEqual(
    found.map(({ seed }) => seed),
    [2],
  );
  assert.deepEqual(recorded(lines.join('\n'), 2, 5), [], 'a walk of other masters');
  const total = summary([slice(1, 5), slice(2, 7)]);
  assert.equal(total.kills, 14);
  assert.deepEqual(total.byKind, { 'kill etcd': 12, refill: 2 });
  assert.equal(total.longestGapMs, 200);
});
