/** Samples of one object of a kind, as on the page but without the labels that all of its samples have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelPairs, numberText } from '../../../../src/base/metrics/exposition.ts';
import type { ObjectMetrics } from '../../../../src/kube-apiserver/object-metrics/family.ts';

type Part = Readonly<Record<string, unknown>>;

/** The object is `a` of the namespace `ns` by default. */
const objectOf = ({ metadata, ...rest }: Part): never =>
  ({
    metadata: {
      name: 'a',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(metadata as object),
    },
    ...rest,
  }) as never;

/** Returns the samples of a family, such as `phase="Running" 1`. */
export function samplesBy(metrics: ObjectMetrics, name: string, object: Part): readonly string[] {
  const family = metrics.families.find((one) => one.name === name);
  if (!family) throw new Error(`there is no family ${name}`);
  const samples = family.samplesOf(objectOf(object));
  return samples.map(({ labels, value }) => `${labelPairs(labels ?? {})} ${numberText(value)}`.trim());
}

export const labelsOf = (metrics: ObjectMetrics, object: Part = {}) =>
  labelPairs(metrics.labelsOf(objectOf(object)));

export type Row = readonly [family: string, object: Part, ...lines: string[]];

/** Declares a test for each row; `prefix` is the beginning of the names of all families of the table. */
export function describeSamples(
  title: string,
  metrics: ObjectMetrics,
  prefix: string,
  rows: readonly Row[],
): void {
  describe(title, () => {
    for (const [family, object, ...lines] of rows) {
      test(`${family} has ${lines.join('; ') || 'no samples'}`, () => {
        assert.deepEqual(samplesBy(metrics, `${prefix}_${family}`, object), lines);
      });
    }
  });
}

/** Declares a test that each family has its own help text, a sentence. */
export function explains(title: string, { families }: ObjectMetrics): void {
  test(`${title}: each family has its own help text`, () => {
    const texts = families.map(({ help }) => help);
    for (const text of texts) assert.match(text, /^[A-Z].{9,}\.$/);
    assert.equal(new Set(texts).size, texts.length);
  });
}

/** Declares a test of the labels that all samples of the object `a` in the namespace `ns` have. */
export function names(metrics: ObjectMetrics, labels: string): void {
  test(`an object has the labels ${labels}`, () => assert.equal(labelsOf(metrics), labels));
}
