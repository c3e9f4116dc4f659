import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector } from '../../../src/apimachinery/field-selector.ts';
import {
  formatSelector,
  matches,
  parseLabelSelector,
  type Selector,
  selectorFromLabelSelector,
  selectorFromMap,
} from '../../../src/apimachinery/labels.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';

const labels = { app: 'web', tier: 'front', count: '7', empty: '', 'example.com/part': 'a' };

for (const [text, expected] of [
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app=api', false],
  ['app!=api', true],
  ['absent!=x', true],
  ['app in (web,api)', true],
  ['app in(web , api)', true],
  ['absent in (web)', false],
  ['app notin (web)', false],
  ['absent notin (web)', true],
  ['app', true],
  ['!app', false],
  ['! absent', true],
  ['count>5', true],
  ['count > 7', false],
  ['count<8', true],
  ['app>1', false],
  ['empty=', true],
  ['empty in ()', true],
  ['tier=front,app in (web,api),!absent', true],
  ['tier=front,app in (web,api),absent', false],
  ['example.com/part=a', true],
  ['constructor', false],
] as const) {
  test(`the selector ${JSON.stringify(text)} ${expected ? 'matches' : 'does not match'} the labels`, () => {
    assert.equal(matches(parseLabelSelector(text), labels), expected);
  });
}

for (const text of [
  'app in',
  'app in web',
  'app in (web',
  'app in (a b)',
  '=web',
  'app=web,',
  ',app=web',
  'a b',
  'app=we/b',
  '-app=web',
  'count>x',
  '!',
  'app=a=b',
]) {
  test(`selector ${JSON.stringify(text)} is a bad request`, () => {
    assert.throws(
      () => parseLabelSelector(text),
      (error) => error instanceof StatusError && error.status.code === 400 && error.message.includes(text),
    );
  });
}

test('an absent object selector matches nothing, an empty one everything', () => {
  assert.equal(matches(selectorFromLabelSelector(undefined), labels), false);
  assert.equal(matches(selectorFromLabelSelector({}), undefined), true);
  assert.equal(matches(selectorFromMap({ app: 'web', tier: 'front' }), labels), true);
  assert.equal(matches(selectorFromMap({ app: 'web', tier: 'back' }), labels), false);
});

test('a selector combines match labels and match expressions', () => {
  const selector = selectorFromLabelSelector({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'old', operator: 'DoesNotExist' },
      { key: 'count', operator: 'NotIn', values: ['8'] },
      { key: 'app', operator: 'Exists' },
    ],
  });
  assert.equal(matches(selector, labels), true);
  assert.equal(matches(selector, { ...labels, old: '' }), false);
  assert.equal(formatSelector(selector), 'app=web,app,count notin (8),!old,tier in (back,front)');
});

test('a formatted selector parses to the same selector', () => {
  for (const text of ['a=b,c!=d', 'a in (x,y),!b', 'n<3,n>1', 'k notin (v)'])
    assert.equal(
      formatSelector(parseLabelSelector(formatSelector(parseLabelSelector(text)))),
      formatSelector(parseLabelSelector(text)),
    );
});

test('selectors with more than 1000 terms or 32768 characters are rejected', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`).join(',');
  assert.equal(parseLabelSelector(many(1000)).requirements.length, 1000);
  assert.equal(parseLabelSelector(`k in (${many(5000)})`).requirements.length, 1);
  assert.throws(
    () => parseLabelSelector(many(1001)),
    /the label selector has 1001 terms; at most 1000 are allowed/,
  );
  const fields = Array.from({ length: 1001 }, (_, i) => `metadata.name!=n${i}`);
  assert.equal(parseFieldSelector(fields.slice(1).join(',')).length, 1000);
  assert.throws(() => parseFieldSelector(fields.join(',')), /the field selector has 1001 terms/);
  assert.throws(
    () => parseLabelSelector(many(40_000)),
    /the label selector has \d+ characters; at most 32768 are allowed/,
  );
  assert.throws(() => parseFieldSelector(many(40_000)), /the field selector has \d+ characters/);
});

test('the parsed selector is cached only for a frozen object', () => {
  const expression = { key: 'app', operator: 'In' as const, values: ['a'] };
  const open = { matchExpressions: [expression] };
  const before = selectorFromLabelSelector(open);
  expression.values.push('b');
  assert.equal(matches(selectorFromLabelSelector(open), { app: 'b' }), true);
  assert.equal(matches(before, { app: 'b' }), false);
  const frozen = Object.freeze({ matchLabels: { app: 'a' } });
  assert.equal(selectorFromLabelSelector(frozen), selectorFromLabelSelector(frozen));
});

test('a match does not scan the thousands of values of a requirement', () => {
  let looked = 0;
  const count = 5000;
  const values = new Proxy(
    Array.from({ length: count }, (_, n) => `v${n}`),
    {
      get(list, name) {
        looked++;
        return Reflect.get(list, name);
      },
    },
  );
  for (const operator of ['in', 'notin'] as const) {
    const selector: Selector = { requirements: [{ key: 'app', operator, values }] };
    for (let n = 0; n < 1000; n++) {
      assert.equal(matches(selector, { app: `x${n}` }), operator === 'notin');
      assert.equal(matches(selector, { app: `v${n}` }), operator === 'in');
    }
  }
  assert.ok(looked < 10 * count, `${looked} looks`);
});
