/** Comparisons of a Choice, patterns, times, and the rules that combine them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdsRule } from '../../../src/states-language/choice/evaluate.ts';
import { matchesPattern, parsePattern } from '../../../src/states-language/choice/matches.ts';
import { choiceOperators } from '../../../src/states-language/choice/operators.ts';
import type { Comparison } from '../../../src/states-language/definition/types.ts';
import { StateError } from '../../../src/states-language/failure.ts';
import type { Json } from '../../../src/states-language/json.ts';
import { parseTimestamp } from '../../../src/states-language/timestamp.ts';

/** Samples of each type: a value, one below it, one above it, and the same in another notation. */
const samples: readonly [type: string, middle: Json, below: Json, above: Json, same: Json][] = [
  ['String', 'b', 'a', 'c', 'b'],
  ['Numeric', 20, 3, 100, 20.0],
  [
    'Timestamp',
    '2016-03-14T01:59:00Z',
    '2016-03-14T01:58:59.9Z',
    '2016-03-14T01:59:00.001Z',
    '2016-03-14T02:59:00+01:00',
  ],
];
const expectations: readonly [name: string, below: boolean, same: boolean, above: boolean][] = [
  ['Equals', false, true, false],
  ['LessThan', true, false, false],
  ['GreaterThan', false, false, true],
  ['LessThanEquals', true, true, false],
  ['GreaterThanEquals', false, true, true],
];
const others: readonly Json[] = [null, true, 'x', -1, [], {}];

for (const [type, middle, below, above, same] of samples)
  for (const [name, whenBelow, whenSame, whenAbove] of expectations) {
    const holds = (value: Json) => {
      const literal = holdsRule({ Variable: '$.v', [type + name]: middle }, { input: { v: value } });
      const byPath = holdsRule(
        { Variable: '$.v', [`${type}${name}Path`]: '$.o' },
        { input: { v: value, o: middle } },
      );
      assert.equal(literal, byPath);
      return literal;
    };
    test(`${type}${name} compares with a literal and with the value of a path`, () => {
      assert.equal(holds(below), whenBelow);
      assert.equal(holds(same), whenSame);
      assert.equal(holds(middle), whenSame);
      assert.equal(holds(above), whenAbove);
    });
    test(`${type}${name} is false for a value of another type`, () => {
      for (const other of others)
        if (type === 'Timestamp' || typeof other !== typeof middle)
          assert.equal(holds(other), false, JSON.stringify(other));
      for (const other of others) {
        if (type !== 'Timestamp' && typeof other === typeof middle) continue;
        const rule = { Variable: '$.v', [`${type}${name}Path`]: '$.o' };
        assert.equal(holdsRule(rule, { input: { v: middle, o: other } }), false, JSON.stringify(other));
      }
    });
  }

const single: [rule: Record<string, Json>, input: Json, expected: boolean][] = [
  [{ BooleanEquals: true }, true, true],
  [{ BooleanEquals: true }, false, false],
  [{ BooleanEquals: false }, false, true],
  [{ BooleanEquals: false }, null, false],
  [{ BooleanEquals: true }, 'true', false],
  [{ BooleanEqualsPath: '$' }, true, true],
  [{ BooleanEqualsPath: '$' }, 1, false],
  [{ StringMatches: 'log-*.txt' }, 'log-1.txt', true],
  [{ StringMatches: 'log-*.txt' }, 'log-1.txts', false],
  [{ StringMatches: '*' }, 5, false],
  [{ IsNull: true }, null, true],
  [{ IsNull: true }, 0, false],
  [{ IsNull: false }, 0, true],
  [{ IsPresent: true }, null, true],
  [{ IsPresent: false }, null, false],
  [{ IsNumeric: true }, 1.5, true],
  [{ IsNumeric: true }, '1.5', false],
  [{ IsNumeric: false }, '1.5', true],
  [{ IsString: true }, '', true],
  [{ IsString: true }, 1, false],
  [{ IsBoolean: true }, false, true],
  [{ IsBoolean: true }, 0, false],
  [{ IsTimestamp: true }, '2001-01-01T12:00:00Z', true],
  [{ IsTimestamp: true }, '2001-01-01', false],
  [{ IsTimestamp: true }, 978350400, false],
  [{ IsTimestamp: false }, 'x', true],
];
for (const [rule, input, expected] of single)
  test(`${JSON.stringify(rule)} of ${JSON.stringify(input)} ${expected ? 'holds' : 'does not hold'}`, () =>
    assert.equal(holdsRule({ Variable: '$', ...rule }, { input }), expected));

test('there are 39 comparisons', () => assert.equal(choiceOperators.size, 39));

const big = { Variable: '$.n', NumericGreaterThan: 10 };
const even = { Variable: '$.even', BooleanEquals: true };
const absent = { Variable: '$.missing', IsNull: true };
const joined: [rule: Comparison, expected: boolean | 'fails'][] = [
  [{ And: [big, even] }, true],
  [{ And: [big, { Not: even }] }, false],
  [{ Or: [{ Not: big }, even] }, true],
  [{ Or: [{ Not: big }, { Not: even }] }, false],
  [{ Not: { And: [big, { Or: [even] }] } }, false],
  [{ Or: [big, absent] }, true],
  [{ Or: [{ Not: big }, absent] }, 'fails'],
  [{ And: [{ Not: big }, absent] }, false],
  [{ And: [big, absent] }, 'fails'],
  [{ And: [{ Variable: '$.missing', IsPresent: true }, absent] }, false],
  [{ Variable: '$.missing', IsPresent: false }, true],
  [{ Variable: '$.n', NumericEqualsPath: '$.missing' }, 'fails'],
  [{ Variable: '$.n', Comment: 'none' }, 'fails'],
  [{ Variable: '$$.State.Name', StringEquals: 'S' }, true],
  [{ Variable: '$v', NumericEqualsPath: '$.n' }, true],
];
for (const [rule, expected] of joined)
  test(`${JSON.stringify(rule)} ${expected === 'fails' ? 'fails' : expected ? 'holds' : 'does not hold'}`, () => {
    const roots = {
      input: { n: 20, even: true },
      context: { State: { Name: 'S' } },
      variable: (name: string) => (name === 'v' ? 20 : undefined),
    };
    if (expected !== 'fails') return assert.equal(holdsRule(rule, roots), expected);
    assert.throws(
      () => holdsRule(rule, roots),
      (error) => error instanceof StateError && error.failure.error === 'States.Runtime',
    );
  });

const patterns: [pattern: string, text: string, expected: boolean][] = [
  ['', '', true],
  ['', 'a', false],
  ['a', 'a', true],
  ['a', 'ab', false],
  ['*', '', true],
  ['**', 'x', true],
  ['a*', 'a', true],
  ['a*', 'ba', false],
  ['*a', 'ba', true],
  ['*a', 'ab', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'acb', false],
  ['a*b*c', 'abbbc', true],
  ['*aab*', 'aaab', true],
  ['*abab*', 'abacabab', true],
  ['*aabaaa*', 'aabaabaaa', true],
  ['*ab*ab*', 'ab', false],
  ['*ab*ab*', 'abab', true],
  ['a*bc', 'abcbd', false],
  ['*b*bc', 'bc', false],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a\\**', 'a*b', true],
  ['\\\\*', '\\x', true],
  ['?', 'x', false],
  ['[a]', 'a', false],
  ['.*', '.x', true],
  ['ä*ü', 'ä…ü', true],
  ['\\a', 'a', false],
];
for (const [pattern, text, expected] of patterns)
  test(`the text "${text}" ${expected ? 'matches' : 'does not match'} the pattern "${pattern}"`, () =>
    assert.equal(matchesPattern(text, pattern), expected));

test('a pattern matches the same short texts as the equivalent regular expression', () => {
  const texts = (length: number): string[] =>
    length === 0 ? [''] : texts(length - 1).flatMap((text) => [text, `${text}a`, `${text}b`]);
  const words = [...new Set(texts(6))];
  for (const pattern of ['*aab*', 'a*ab*b', '*abab*a', '*ba*ba*']) {
    const plain = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
    for (const text of words)
      assert.equal(matchesPattern(text, pattern), plain.test(text), `${text} like ${pattern}`);
  }
});

test('patterns are split at wildcards, and an invalid escape is an error', () => {
  assert.deepEqual(parsePattern('a*b\\*c\\\\'), ['a', 'b*c\\']);
  assert.equal(parsePattern('a\\'), undefined);
  assert.equal(parsePattern('a\\n'), undefined);
});

const times: [text: string, ms: number | undefined][] = [
  ['1970-01-01T00:00:00Z', 0],
  ['1970-01-01T00:00:01.5Z', 1500],
  ['1970-01-01T00:00:00.123456Z', 123.456],
  ['1970-01-01T01:00:00+01:00', 0],
  ['1969-12-31T23:30:00-00:30', 0],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2023-02-29T00:00:00Z', undefined],
  ['2023-13-01T00:00:00Z', undefined],
  ['2023-01-32T00:00:00Z', undefined],
  ['2023-01-01T24:00:00Z', undefined],
  ['2023-01-01T00:60:00Z', undefined],
  ['2023-01-01T00:00:60Z', undefined],
  ['2023-01-01t00:00:00Z', undefined],
  ['2023-01-01T00:00:00z', undefined],
  ['2023-01-01T00:00:00', undefined],
  ['2023-01-01 00:00:00Z', undefined],
  ['2023-01-01T00:00Z', undefined],
  ['2023-01-01T00:00:00+0100', undefined],
  ['2023-01-01T00:00:00+24:00', undefined],
  [' 2023-01-01T00:00:00Z', undefined],
  ['2023-01-01T00:00:00Z ', undefined],
];
for (const [text, ms] of times)
  test(`the time "${text}" is ${ms === undefined ? 'invalid' : 'valid'}`, () =>
    assert.equal(parseTimestamp(text), ms));
