/** Validation of Pass, Succeed, Fail and Wait states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, faults, inner, jsonata, of, wait } from './definitions.ts';

test('a Next that names a state outside its own state machine is rejected', () => {
  const states = { A: { Type: 'Map', ItemProcessor: inner, Next: 'I' }, B: end };
  assert.ok(
    faults({ StartAt: 'A', States: states }).includes(
      'd.States.A.Next: Invalid value: "I": there is no state of this name beside it',
    ),
  );
});

/** States with their faults, whose paths begin with the name S of the state; a valid state has none. */
const states: [state: object, expected: string[], top?: object][] = [
  [{}, ['S.Type: Required value']],
  [
    { Type: 'Sleep' },
    [
      'S.Type: Unsupported value: "Sleep": supported values: "Task", "Parallel", "Map", "Choice", "Wait", "Pass", "Succeed", "Fail"',
    ],
  ],
  [
    { Type: 'toString' },
    [
      'S.Type: Unsupported value: "toString": supported values: "Task", "Parallel", "Map", "Choice", "Wait", "Pass", "Succeed", "Fail"',
    ],
  ],
  [{ Type: 'Pass' }, ['S: Required value: needs one of Next, End']],
  [{ Type: 'Pass', Next: 'N', End: true }, ['S.End: Forbidden: cannot stand beside Next']],
  [{ Type: 'Pass', End: false }, ['S.Next: Required value: End is false']],
  [{ Type: 'Pass', End: 'yes' }, ['S.End: Invalid value: "yes": must be true or false']],
  [{ Type: 'Pass', Next: 'X' }, ['S.Next: Invalid value: "X": there is no state of this name beside it']],
  [{ Type: 'Pass', Next: 7 }, ['S.Next: Invalid value: 7: there is no state of this name beside it']],
  [{ Type: 'Pass', End: true, Comment: 7 }, ['S.Comment: Invalid value: 7: must be a text']],
  [{ Type: 'Pass', End: true, Seconds: 7 }, ['S.Seconds: Forbidden: a Pass state has no such field']],
  [
    {
      Type: 'Pass',
      End: true,
      InputPath: '$.a[0]',
      OutputPath: null,
      ResultPath: null,
      Parameters: 1,
      Assign: { 'a.$': '$' },
    },
    [],
  ],
  [
    { Type: 'Pass', End: true, InputPath: 'a' },
    ['S.InputPath: Invalid value: "a": a path begins with $ at character 1'],
  ],
  [{ Type: 'Pass', End: true, InputPath: 7 }, ['S.InputPath: Invalid value: 7: must be a text']],
  [{ Type: 'Pass', End: true, OutputPath: '@' }, ['S.OutputPath: Invalid value: "@": @ is for filters only']],
  [
    { Type: 'Pass', End: true, ResultPath: '$..a' },
    [
      'S.ResultPath: Invalid value: "$..a": must be a reference path into the input: $, names and indexes only',
    ],
  ],
  [
    { Type: 'Pass', End: true, ResultPath: '$x.a' },
    [
      'S.ResultPath: Invalid value: "$x.a": must be a reference path into the input: $, names and indexes only',
    ],
  ],
  [
    { Type: 'Pass', End: true, Parameters: { a: [{ 'b.$': 'c' }] } },
    ['S.Parameters.a[0][b.$]: Invalid value: "c": a path begins with $ at character 1'],
  ],
  [
    { Type: 'Pass', End: true, Parameters: { 'b.$': 7 } },
    ['S.Parameters[b.$]: Invalid value: 7: must be a text'],
  ],
  [
    { Type: 'Pass', End: true, Parameters: { 'b.$': 'States.Nope()' } },
    ['S.Parameters[b.$]: Invalid value: "States.Nope()": there is no function States.Nope at character 12'],
  ],
  [
    { Type: 'Pass', End: true, Parameters: { 'b.$': '$', b: 1 } },
    ['S.Parameters.b: Invalid value: 1: gives b a second time'],
  ],
  [{ Type: 'Pass', End: true, Assign: [] }, ['S.Assign: Invalid value: []: must be an object']],
  [
    { Type: 'Pass', End: true, Assign: { 'a-b': 1 } },
    [
      'S.Assign.a-b: Invalid value: "a-b": a variable has letters, digits and _, at most 80, and begins with no digit',
    ],
  ],
  [
    { Type: 'Pass', End: true, Assign: { ['x'.repeat(81)]: 1 } },
    [
      `S.Assign.${'x'.repeat(81)}: Invalid value: "${'x'.repeat(81)}": a variable has letters, digits and _, at most 80, and begins with no digit`,
    ],
  ],
  [
    { Type: 'Pass', End: true, Assign: { 'states.$': '$' } },
    ['S.Assign[states.$]: Forbidden: the variable states is the language’s own'],
  ],
  [
    { Type: 'Pass', End: true, Output: 1 },
    ['S.Output: Forbidden: is for the query language JSONata, and this is JSONPath'],
  ],
  [{ Type: 'Pass', End: true, QueryLanguage: 'JSONata', Output: '{% 1 %}' }, []],
  [
    { Type: 'Pass', End: true, QueryLanguage: 'XPath' },
    ['S.QueryLanguage: Unsupported value: "XPath": supported values: "JSONPath", "JSONata"'],
  ],
  [{ Type: 'Pass', End: true, QueryLanguage: 'JSONPath' }, []],
  [
    { Type: 'Pass', End: true, QueryLanguage: 'JSONPath' },
    ['S.QueryLanguage: Forbidden: the definition is in JSONata: so are all its states'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, InputPath: '$' },
    ['S.InputPath: Forbidden: is for the query language JSONPath, and this is JSONata'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, Result: 1 },
    ['S.Result: Forbidden: is for the query language JSONPath, and this is JSONata'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, Output: { a: ['{% 1 + %}'] } },
    ['S.Output.a[0]: Invalid value: "{% 1 + %}": Unexpected end of expression (at character 3)'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, Output: '{% 1' },
    ['S.Output: Invalid value: "{% 1": an expression ends with %}'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, Output: '{%}' },
    ['S.Output: Invalid value: "{%}": an expression ends with %}'],
    jsonata,
  ],
  [
    { Type: 'Pass', End: true, Assign: { 'a.$': 1 } },
    [
      'S.Assign[a.$]: Invalid value: "a.$": a variable has letters, digits and _, at most 80, and begins with no digit',
    ],
    jsonata,
  ],
  [{ Type: 'Succeed', Assign: {} }, ['S.Assign: Forbidden: a Succeed state has no such field']],
  [{ Type: 'Succeed', End: true }, ['S.End: Forbidden: a Succeed state has no such field']],
  [{ Type: 'Fail', Error: 'a', Cause: 'b', Comment: 'c' }, []],
  [{ Type: 'Fail', Error: 'a', ErrorPath: '$.a' }, ['S.ErrorPath: Forbidden: cannot stand beside Error']],
  [
    { Type: 'Fail', Cause: 'a', CausePath: "States.Format('x')" },
    ['S.CausePath: Forbidden: cannot stand beside Cause'],
  ],
  [{ Type: 'Fail', Error: 7 }, ['S.Error: Invalid value: 7: must be a text']],
  [{ Type: 'Fail', InputPath: '$' }, ['S.InputPath: Forbidden: a Fail state has no such field']],
  [
    { Type: 'Fail', ErrorPath: '$.a' },
    ['S.ErrorPath: Forbidden: is for the query language JSONPath, and this is JSONata'],
    jsonata,
  ],
  [{ Type: 'Fail', Error: '{% 1 %}' }, [], jsonata],
  [wait, ['S: Required value: needs one of Seconds, SecondsPath, Timestamp, TimestampPath']],
  [
    { ...wait, Seconds: 1, Timestamp: '2001-01-01T00:00:00Z' },
    ['S.Timestamp: Forbidden: cannot stand beside Seconds'],
  ],
  [{ ...wait, Seconds: 0 }, []],
  [{ ...wait, Seconds: -1 }, ['S.Seconds: Invalid value: -1: must be an integer from 0 to 99999999']],
  [{ ...wait, Seconds: 1.5 }, ['S.Seconds: Invalid value: 1.5: must be an integer from 0 to 99999999']],
  [
    { ...wait, Seconds: '{% 1 %}' },
    ['S.Seconds: Invalid value: "{% 1 %}": must be an integer from 0 to 99999999'],
  ],
  [{ ...wait, Seconds: '{% 1 %}' }, [], jsonata],
  [
    { ...wait, Seconds: '1' },
    ['S.Seconds: Invalid value: "1": must be an integer from 0 to 99999999'],
    jsonata,
  ],
  [
    { ...wait, SecondsPath: '$.a[*]' },
    ['S.SecondsPath: Invalid value: "$.a[*]": must be a reference path: names and indexes only'],
  ],
  [{ ...wait, SecondsPath: '$$.a' }, []],
  [
    { ...wait, Timestamp: '2001-01-01' },
    ['S.Timestamp: Invalid value: "2001-01-01": must be a time such as \'2026-03-14T01:59:00Z\''],
  ],
  [{ ...wait, Timestamp: '{% $now() %}' }, [], jsonata],
  [{ ...wait, TimestampPath: '$v.a' }, []],
];

for (const [state, expected, top = {}] of states)
  test(`${JSON.stringify(state).slice(0, 90)}${'QueryLanguage' in top ? ' (JSONata)' : ''} is ${expected.length === 0 ? 'allowed' : 'refused'}`, () =>
    assert.deepEqual(of(state, top), expected));
