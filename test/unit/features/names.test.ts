import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featureNames, readFeatures } from '../../../src/features/names.ts';

test('features are sorted and without duplicates', () => {
  assert.deepEqual(readFeatures('workflows, functions,functions'), ['functions', 'workflows']);
  assert.deepEqual(readFeatures(featureNames.join(',')), featureNames);
});

test('the value none selects no feature', () => {
  assert.deepEqual(readFeatures('none'), []);
});

for (const [value, message] of [
  [
    '',
    'there is no feature : expected none, or some of functions,gateway,host-names,images,ingress,slurm,triggers,workflows',
  ],
  ['functons', /there is no feature functons \(did you mean functions\?\)/],
  ['none,slurm', /there is no feature none/],
  ['triggers', { message: 'triggers needs functions and workflows too' }],
  ['workflows,slurm', { message: 'workflows needs functions too' }],
] as const) {
  test(`"${value}" is refused, with the missing or unknown name`, () => {
    assert.throws(() => readFeatures(value), typeof message === 'string' ? { message } : message);
  });
}
