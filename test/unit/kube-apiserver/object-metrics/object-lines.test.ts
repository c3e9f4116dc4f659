import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gauge, gauges, type ObjectMetrics } from '../../../../src/kube-apiserver/object-metrics/family.ts';
import { named } from '../../../../src/kube-apiserver/object-metrics/metadata-families.ts';
import { EndsPool, KnownLines, linesOf } from '../../../../src/kube-apiserver/object-metrics/object-lines.ts';
import type { CachedObject } from '../../../../src/storage/cache.ts';

const cached = (name: string, size = 1): CachedObject => {
  const object = {
    apiVersion: 'v1',
    kind: 'K',
    metadata: { name, uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  };
  const told = { ...object, size };
  return { key: `/registry/k/${name}`, revision: 1, bytes: Buffer.from(''), object: told, unowned: told };
};
const metrics: ObjectMetrics = {
  ref: { group: '', version: 'v1', kind: 'K', plural: 'ks', namespaced: false } as ObjectMetrics['ref'],
  labelsOf: named('k'),
  families: [
    gauge('k_size', 'How large.', (object) => (object as { size?: number }).size),
    gauge('k_none', 'Never told.', () => undefined),
    gauges('k_states', 'In order.', () => [
      { labels: { state: 'a"b\n\\' }, value: 1 },
      { labels: { state: 'c' }, value: 0.5 },
      { labels: { state: 'c' }, value: 0.5 },
    ]),
  ],
};

describe('lines of an object', () => {
  test('are its labels and the ends of each family, and equal samples are one line', () => {
    const object = cached('a');
    assert.deepEqual(linesOf(metrics, object, new EndsPool()), {
      object,
      labels: 'k="a"',
      ends: ['} 1\n', undefined, [',state="a\\"b\\n\\\\"} 1\n', ',state="c"} 0.5\n']],
    });
  });

  test('objects with equal samples share lines', () => {
    const pool = new EndsPool();
    const [a, b] = [linesOf(metrics, cached('a'), pool), linesOf(metrics, cached('b'), pool)];
    assert.ok(Array.isArray(a.ends[2]));
    assert.equal(a.ends[2], b.ends[2]);
  });
});

describe('cached lines', () => {
  const pool = new EndsPool();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => cached(name)) as [
    CachedObject,
    CachedObject,
    CachedObject,
    CachedObject,
  ];
  const changed = cached('b', 2);
  const before = [a, b, d].map((object) => linesOf(metrics, object, pool));
  const cases: [string, CachedObject[], (CachedObject | undefined)[]][] = [
    ['are found for all unchanged objects', [a, b, d], [a, b, d]],
    ['are not found for new objects', [a, b, c, d], [a, b, undefined, d]],
    ['are not found for another version of an object', [a, changed, d], [a, undefined, d]],
    ['are found for objects after a deleted one', [d], [d]],
    ['none', [c], [undefined]],
  ];
  for (const [title, objects, found] of cases) {
    test(title, () => {
      const known = new KnownLines(before);
      assert.deepEqual(
        objects.map((object) => known.next(object)?.object),
        found,
      );
    });
  }
});
