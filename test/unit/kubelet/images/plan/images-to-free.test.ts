/** Images that are removed when the disk is full. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bytesToFree,
  defaultImageThresholds,
  freeableImages,
  type PresentImage,
  type RecordedImage,
} from '../../../../../src/kubelet/images/plan/images-to-free.ts';

describe('the bytes that images must free', () => {
  for (const [available, thresholds, bytes] of [
    [160, {}, 0],
    [151, {}, 49],
    [150, {}, 50],
    [0, {}, 200],
    [150, { lowPercent: 85 }, 0],
    [0, { highPercent: 100 }, 0],
    [2000, {}, 0],
    [999, { highPercent: 0, lowPercent: 0 }, 1],
  ] as const) {
    it(`are ${bytes} with ${available} of 1000 available and the thresholds ${JSON.stringify(thresholds)}`, () =>
      assert.equal(
        bytesToFree({ size: 1000, available }, { ...defaultImageThresholds, ...thresholds }),
        bytes,
      ));
  }
  it('are 0 for a disk without a size', () =>
    assert.equal(bytesToFree({ size: 0, available: 0 }, defaultImageThresholds), 0));
});

const now = 1_000_000;

describe('removable images', () => {
  const image = (id: string, names: readonly string[]): PresentImage => ({ id, names, sizeBytes: 7 });
  const recorded = (names: readonly string[], usedAt = 0, since = 0): RecordedImage => ({
    names,
    since,
    usedAt,
  });
  const ids = (present: PresentImage[], record: Record<string, RecordedImage>, used: string[] = []) =>
    freeableImages(present, new Map(Object.entries(record)), new Set(used), { now, minAgeMs: 1000 }).map(
      ({ id, names }) => [id, ...names],
    );

  it('are only images that were pulled for pods, by their names', () => {
    assert.deepEqual(ids([image('a', ['a:1']), image('b', ['b:1'])], { a: recorded(['a:1']) }), [
      ['a', 'a:1'],
    ]);
  });
  it('are neither in use nor new', () => {
    const present = [image('a', ['a:1'])];
    assert.deepEqual(ids(present, { a: recorded(['a:1']) }, ['a']), []);
    assert.deepEqual(ids(present, { a: recorded(['a:1'], 0, now - 999) }), []);
    assert.deepEqual(ids(present, { a: recorded(['a:1'], 0, now - 1000) }), [['a', 'a:1']]);
  });
  it('are removed by tag before digest, and have no name that another client gave', () => {
    const digest = `r.io:5000/a@sha256:${'0'.repeat(64)}`;
    assert.deepEqual(ids([image('a', [digest, 'r.io:5000/a:1'])], { a: recorded(['r.io:5000/a:1']) }), [
      ['a', 'r.io:5000/a:1', digest],
    ]);
    assert.deepEqual(ids([image('a', ['a:latest'])], { a: recorded(['a']) }), [['a', 'a:latest']]);
    for (const foreign of ['mine:1', 'a:2', 'r.io/a:1', 'r.io/a@sha256:00'])
      assert.deepEqual(ids([image('a', ['a:1', foreign])], { a: recorded(['a:1']) }), [], foreign);
  });
  it('are removed by id if another image has their name', () => {
    assert.deepEqual(ids([image('sha256:a', [])], { 'sha256:a': recorded(['a:1']) }), [
      ['sha256:a', 'sha256:a'],
    ]);
  });
  it('are sorted by the time of last use, then by age', () => {
    const present = ['a', 'b', 'c'].map((id) => image(id, [`${id}:1`]));
    const record = {
      a: recorded(['a:1'], 5, 2),
      b: recorded(['b:1'], 5, 1),
      c: recorded(['c:1'], 4, 3),
    };
    assert.deepEqual(
      ids(present, record).map(([id]) => id),
      ['c', 'b', 'a'],
    );
  });
});
