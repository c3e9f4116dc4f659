/** Label selectors of the command line, in the form of objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelSelectorOf } from '../../../../src/cli/objects/label-selector.ts';

for (const [text, selector] of [
  ['app=web', { matchLabels: { app: 'web' } }],
  ['app==web,tier=', { matchLabels: { app: 'web', tier: '' } }],
  ['tier in (a)', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['a'] }] }],
  ['tier notin (a)', { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] }],
  ['app!=web', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }],
  ['app', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }],
  ['!app', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }],
  [
    'app=web,!old',
    { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }] },
  ],
] as const)
  test(`the selector ${text} becomes ${JSON.stringify(selector)}`, () => {
    assert.deepEqual(labelSelectorOf(text), selector);
  });

test('an operator that the form in objects lacks is rejected by its Go name', () => {
  assert.throws(() => labelSelectorOf('cpu>1'), { name: 'UsageError', message: /^"gt" isn't supported/ });
});

test('a text that is not a selector is rejected with the text', () => {
  assert.throws(() => labelSelectorOf('a in b'), {
    name: 'UsageError',
    message: /selector string "a in b": /,
  });
});
