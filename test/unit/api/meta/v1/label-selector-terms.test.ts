import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateLabelSelector } from '../../../../../src/api/meta/v1/label-selector.ts';

test('a selector of an object has at most 1,000 terms, in both of its forms together', () => {
  const matchLabels = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'v']));
  const expressions = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ key: `e${i}`, operator: 'Exists' as const }));
  assert.deepEqual(
    validateLabelSelector({ matchLabels, matchExpressions: expressions(500) }, 'spec.selector'),
    [],
  );
  assert.deepEqual(
    validateLabelSelector({ matchLabels, matchExpressions: expressions(501) }, 'spec.selector'),
    [
      {
        reason: 'FieldValueTooMany',
        field: 'spec.selector',
        message: 'Too many: 1001: must have at most 1000 items',
      },
    ],
  );
});
