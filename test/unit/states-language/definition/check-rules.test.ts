/** Validation of the rules of a Choice, and of their patterns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, faults, jsonata } from './definitions.ts';

const choice = (rule: unknown) => ({
  StartAt: 'S',
  States: { S: { Type: 'Choice', Choices: [rule] }, E: end },
});

const rules: [rule: unknown, expected: string[]][] = [
  [{ Variable: '$.a', StringEquals: 'x', Next: 'E' }, []],
  [{ Variable: '$.a', StringEquals: 'x', Next: 'E', Comment: 'c', Assign: { x: 1 } }, []],
  [{ Variable: '$.a[*]', NumericEqualsPath: '$.b', Next: 'E' }, []],
  [{ Variable: '$.a', StringMatches: 'a\\**', Next: 'E' }, []],
  [
    {
      And: [
        { Variable: '$', IsNull: true, Comment: 'c' },
        { Or: [{ Not: { Variable: '$', IsNull: true } }] },
      ],
      Next: 'E',
    },
    [],
  ],
  [7, ['C[0]: Invalid value: 7: must be an object']],
  [{ Variable: '$.a', StringEquals: 'x' }, ['C[0].Next: Required value']],
  [{ StringEquals: 'x', Next: 'E' }, ['C[0].Variable: Required value']],
  [{ Variable: 7, StringEquals: 'x', Next: 'E' }, ['C[0].Variable: Invalid value: 7: must be a text']],
  [{ Variable: '$.a', Next: 'E' }, ['C[0]: Required value: needs a comparison, And, Or or Not']],
  [
    { Variable: '$.a', StringEquals: 'x', StringLessThan: 'y', Next: 'E' },
    ['C[0].StringLessThan: Forbidden: cannot stand beside StringEquals'],
  ],
  [
    { Variable: '$.a', StringContains: 'x', Next: 'E' },
    ['C[0].StringContains: Forbidden: there is no such comparison'],
  ],
  [{ Variable: '$.a', StringEquals: 7, Next: 'E' }, ['C[0].StringEquals: Invalid value: 7: must be a text']],
  [
    { Variable: '$.a', NumericEquals: 'x', Next: 'E' },
    [
      'C[0].NumericEquals: Invalid value: "x": must be a number from -1.7976931348623157e+308 to 1.7976931348623157e+308',
    ],
  ],
  [
    { Variable: '$.a', BooleanEquals: 'x', Next: 'E' },
    ['C[0].BooleanEquals: Invalid value: "x": must be true or false'],
  ],
  [{ Variable: '$.a', IsNull: 'x', Next: 'E' }, ['C[0].IsNull: Invalid value: "x": must be true or false']],
  [
    { Variable: '$.a', TimestampEquals: 'x', Next: 'E' },
    ['C[0].TimestampEquals: Invalid value: "x": must be a time such as \'2026-03-14T01:59:00Z\''],
  ],
  [
    { Variable: '$.a', StringEqualsPath: 'x', Next: 'E' },
    ['C[0].StringEqualsPath: Invalid value: "x": a path begins with $ at character 1'],
  ],
  [
    { Variable: '$.a', StringMatches: 'a\\b', Next: 'E' },
    ['C[0].StringMatches: Invalid value: "a\\\\b": a backslash may stand before * and \\ only'],
  ],
  [
    { Variable: '$.a', StringMatches: 7, Next: 'E' },
    ['C[0].StringMatches: Invalid value: 7: must be a text'],
  ],
  [{ And: [], Next: 'E' }, ['C[0].And: Invalid value: []: must be a list of rules, at least one']],
  [{ Or: {}, Next: 'E' }, ['C[0].Or: Invalid value: {}: must be a list of rules, at least one']],
  [{ Not: 7, Next: 'E' }, ['C[0].Not: Invalid value: 7: must be an object']],
  [
    { Not: { Variable: '$', IsNull: true, Next: 'E' }, Next: 'E' },
    ['C[0].Not.Next: Forbidden: cannot stand beside IsNull'],
  ],
  [
    { And: [{ Variable: '$', IsNull: true }], Variable: '$', Next: 'E' },
    ['C[0].Variable: Forbidden: cannot stand beside And'],
  ],
  [{ Condition: '{% true %}', Next: 'E' }, ['C[0].Condition: Forbidden: there is no such comparison']],
];

for (const [rule, expected] of rules)
  test(`the rule ${JSON.stringify(rule).slice(0, 80)} is ${expected.length === 0 ? 'allowed' : 'refused'}`, () =>
    assert.deepEqual(
      faults(choice(rule))
        .filter((fault) => !fault.includes('cannot be reached') && !fault.includes('no end'))
        .map((fault) => fault.replace('d.States.S.Choices', 'C')),
      expected,
    ));

const conditions: [rule: unknown, expected: string[]][] = [
  [{ Condition: '{% $states.input.a > 1 %}', Next: 'E', Output: '{% 1 %}', Assign: { x: '{% 1 %}' } }, []],
  [{ Condition: true, Next: 'E' }, []],
  [{ Condition: 'x', Next: 'E' }, ['C[0].Condition: Invalid value: "x": must be true or false']],
  [{ Next: 'E' }, ['C[0].Condition: Required value']],
  [
    { Variable: '$.a', IsNull: true, Condition: true, Next: 'E' },
    [
      'C[0].Variable: Forbidden: a rule has no such field',
      'C[0].IsNull: Forbidden: a rule has no such field',
    ],
  ],
];

for (const [rule, expected] of conditions)
  test(`with JSONata, the rule ${JSON.stringify(rule).slice(0, 80)} is ${expected.length === 0 ? 'allowed' : 'refused'}`, () =>
    assert.deepEqual(
      faults({ ...choice(rule), ...jsonata }).map((fault) => fault.replace('d.States.S.Choices', 'C')),
      expected,
    ));

test('a pattern that is too long is refused', () => {
  const [fault = ''] = faults(choice({ Variable: '$', StringMatches: 'x'.repeat(2049), Next: 'E' }));
  assert.match(fault, /StringMatches: .*: is longer than 2048 characters$/);
});
