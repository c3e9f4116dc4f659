/** Faults of a definition, each with its field and message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDefinition } from '../../../../src/states-language/definition/check-definition.ts';
import { parseResource } from '../../../../src/states-language/resource.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const faults = (definition: unknown) =>
  checkDefinition(definition, 'd').map(({ field, message }) => `${field}: ${message}`);

const end = { Type: 'Succeed' };
const task = { Type: 'Task', Resource: 'function:f', End: true };
const inner = { StartAt: 'I', States: { I: { Type: 'Pass', End: true } } };
const wait = { Type: 'Wait', End: true };
const map = { Type: 'Map', ItemProcessor: inner, End: true };
const choice = (rule: unknown) => ({
  StartAt: 'S',
  States: { S: { Type: 'Choice', Choices: [rule] }, E: end },
});
/** Returns the faults of one state without the path to it; N is a state beside it that is always reached. */
const of = (state: object, top: object = {}) =>
  faults({
    ...top,
    StartAt: 'Z',
    States: {
      Z: {
        Type: 'Choice',
        Choices: [
          {
            ...('QueryLanguage' in top && top.QueryLanguage === 'JSONata'
              ? { Condition: true }
              : { Variable: '$.x', IsPresent: true }),
            Next: 'N',
          },
        ],
        Default: 'S',
      },
      S: state,
      N: end,
    },
  }).map((fault) => fault.replaceAll('d.States.S', 'S'));
const jsonata = { QueryLanguage: 'JSONata' };

const whole: [name: string, definition: unknown, expected: string[]][] = [
  ['no object', [], ['d: Invalid value: []: must be an object']],
  ['nothing', {}, ['d.StartAt: Required value', 'd.States: Required value']],
  ['no states', { StartAt: 'A', States: {} }, ['d.States: Required value: needs a state at least']],
  [
    'states that are a list',
    { StartAt: 'A', States: [] },
    ['d.States: Invalid value: []: must be an object of states by name'],
  ],
  [
    'a state that is a text',
    { StartAt: 'A', States: { A: 'x' } },
    [
      'd.States.A: Invalid value: "x": must be an object',
      'd.States: Invalid value: "A": no end is reached: a state with End, a Succeed or a Fail',
    ],
  ],
  [
    'an unknown field',
    { StartAt: 'A', States: { A: end }, Extra: 1 },
    ['d.Extra: Forbidden: a definition has no such field'],
  ],
  [
    'StartAt that does not exist',
    { StartAt: 'B', States: { A: end } },
    ['d.StartAt: Invalid value: "B": there is no state of this name in States'],
  ],
  [
    'StartAt that every object has',
    { StartAt: 'toString', States: { A: end } },
    ['d.StartAt: Invalid value: "toString": there is no state of this name in States'],
  ],
  [
    'a state that nothing leads to',
    { StartAt: 'A', States: { A: end, B: end } },
    ['d.States.B: Invalid value: "B": no way leads to this state'],
  ],
  [
    'no end',
    { StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } } },
    ['d.States: Invalid value: "A": no end is reached: a state with End, a Succeed or a Fail'],
  ],
  [
    'another version',
    { StartAt: 'A', States: { A: end }, Version: '2.0' },
    ['d.Version: Unsupported value: "2.0": supported values: "1.0"'],
  ],
  [
    'a timeout of nothing',
    { StartAt: 'A', States: { A: end }, TimeoutSeconds: 0 },
    ['d.TimeoutSeconds: Invalid value: 0: must be an integer from 1 to 99999999'],
  ],
  [
    'another language',
    { StartAt: 'A', States: { A: end }, QueryLanguage: 'XPath' },
    ['d.QueryLanguage: Unsupported value: "XPath": supported values: "JSONPath", "JSONata"'],
  ],
  [
    'a name that is too long',
    { StartAt: 'x'.repeat(81), States: { ['x'.repeat(81)]: end } },
    [
      `d.States.${'x'.repeat(81)}: Invalid value: "${'x'.repeat(81)}": the name of a state has 1 to 80 characters`,
    ],
  ],
  [
    'a name with a dot in the path',
    { StartAt: 'a.b c', States: { 'a.b c': { ...end, X: 1 } } },
    ['d.States[a.b c].X: Forbidden: a Succeed state has no such field'],
  ],
  [
    'a name that is there twice',
    { StartAt: 'I', States: { I: { ...map } } },
    [
      'd.States.I.ItemProcessor.States.I: Invalid value: "I": there is another state of this name: d.States.I',
    ],
  ],
];
for (const [name, definition, expected] of whole)
  test(`refused: ${name}`, () => assert.deepEqual(faults(definition), expected));

test('a Next that names a state outside its own state machine is rejected', () => {
  const states = { A: { Type: 'Map', ItemProcessor: inner, Next: 'I' }, B: end };
  assert.ok(
    faults({ StartAt: 'A', States: states }).includes(
      'd.States.A.Next: Invalid value: "I": there is no state of this name beside it',
    ),
  );
});

const good: [name: string, definition: unknown][] = [
  ['one state', { StartAt: 'A', States: { A: end } }],
  [
    'everything at the top',
    {
      Comment: 'c',
      Version: '1.0',
      TimeoutSeconds: 99_999_999,
      QueryLanguage: 'JSONata',
      StartAt: 'A',
      States: { A: end },
    },
  ],
  ['the longest name', { StartAt: 'x'.repeat(80), States: { ['x'.repeat(80)]: end } }],
  [
    'a loop with an end',
    {
      StartAt: 'A',
      States: {
        A: { Type: 'Pass', Next: 'B' },
        B: { Type: 'Choice', Choices: [{ Variable: '$.a', IsNull: true, Next: 'A' }], Default: 'C' },
        C: { Type: 'Fail' },
      },
    },
  ],
  [
    'a state that is reached by a catcher alone',
    { StartAt: 'A', States: { A: { ...task, Catch: [{ ErrorEquals: ['States.ALL'], Next: 'B' }] }, B: end } },
  ],
  [
    'a name as of an object',
    { StartAt: '__proto__', States: JSON.parse('{"__proto__": {"Type": "Succeed"}}') },
  ],
];
for (const [name, definition] of good)
  test(`allowed: ${name}`, () => assert.deepEqual(faults(definition), []));

/** Faults of one state without `S.` at the beginning; empty for a valid state. */
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
  [{ Type: 'Task', End: true }, ['S.Resource: Required value']],
  [
    { ...task, Resource: 'lambda' },
    [
      'S.Resource: Invalid value: "lambda": must be one of function:NAME, workflow:NAME, job:NAME, each also as …:NAMESPACE/NAME',
    ],
  ],
  [
    { ...task, Resource: 7 },
    [
      'S.Resource: Invalid value: 7: must be one of function:NAME, workflow:NAME, job:NAME, each also as …:NAMESPACE/NAME',
    ],
  ],
  [
    { ...task, TimeoutSeconds: 0 },
    ['S.TimeoutSeconds: Invalid value: 0: must be an integer from 1 to 99999999'],
  ],
  [
    { ...task, TimeoutSeconds: 5, HeartbeatSeconds: 5 },
    ['S.HeartbeatSeconds: Invalid value: 5: must be less than TimeoutSeconds (5)'],
  ],
  [{ ...task, TimeoutSeconds: 5, HeartbeatSeconds: 4 }, []],
  [
    { ...task, TimeoutSeconds: 5, TimeoutSecondsPath: '$.a' },
    ['S.TimeoutSecondsPath: Forbidden: cannot stand beside TimeoutSeconds'],
  ],
  [
    { ...task, HeartbeatSeconds: 5, HeartbeatSecondsPath: '$.a' },
    ['S.HeartbeatSecondsPath: Forbidden: cannot stand beside HeartbeatSeconds'],
  ],
  [{ ...task, Credentials: 1 }, ['S.Credentials: Invalid value: 1: must be an object']],
  [{ ...task, ResultSelector: 'x' }, ['S.ResultSelector: Invalid value: "x": must be an object']],
  [
    { ...task, Arguments: {} },
    ['S.Arguments: Forbidden: is for the query language JSONata, and this is JSONPath'],
  ],
  [
    { ...task, Arguments: { a: '{% 1 %}' }, TimeoutSeconds: '{% 1 %}', Output: '{% $states.result %}' },
    [],
    jsonata,
  ],
  [{ ...task, Retry: {} }, ['S.Retry: Invalid value: {}: must be a list']],
  [{ ...task, Retry: [7] }, ['S.Retry[0]: Invalid value: 7: must be an object']],
  [{ ...task, Retry: [{}] }, ['S.Retry[0].ErrorEquals: Required value']],
  [
    { ...task, Retry: [{ ErrorEquals: [] }] },
    ['S.Retry[0].ErrorEquals: Invalid value: []: must be a list of error names, at least one'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: [7] }] },
    ['S.Retry[0].ErrorEquals[0]: Invalid value: 7: must be a text'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A', 'States.ALL'] }] },
    ['S.Retry[0].ErrorEquals: Invalid value: ["A","States.ALL"]: States.ALL stands alone'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['States.ALL'] }, { ErrorEquals: ['A'] }] },
    ['S.Retry[0].ErrorEquals: Invalid value: ["States.ALL"]: States.ALL stands in the last rule'],
  ],
  [
    {
      ...task,
      Retry: [
        {
          ErrorEquals: ['A', 'States.Timeout'],
          IntervalSeconds: 1,
          MaxAttempts: 0,
          BackoffRate: 1,
          MaxDelaySeconds: 2,
          JitterStrategy: 'FULL',
          Comment: 'c',
        },
        { ErrorEquals: ['States.ALL'] },
      ],
    },
    [],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 0 }] },
    ['S.Retry[0].IntervalSeconds: Invalid value: 0: must be an integer from 1 to 99999999'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], MaxAttempts: -1 }] },
    ['S.Retry[0].MaxAttempts: Invalid value: -1: must be an integer from 0 to 99999999'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], BackoffRate: 0.9 }] },
    ['S.Retry[0].BackoffRate: Invalid value: 0.9: must be a number from 1 to 1000'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], MaxDelaySeconds: 1 }] },
    ['S.Retry[0].MaxDelaySeconds: Invalid value: 1: must be more than IntervalSeconds (1)'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], MaxDelaySeconds: 31_622_401 }] },
    ['S.Retry[0].MaxDelaySeconds: Invalid value: 31622401: must be an integer from 1 to 31622400'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], JitterStrategy: 'HALF' }] },
    ['S.Retry[0].JitterStrategy: Unsupported value: "HALF": supported values: "FULL", "NONE"'],
  ],
  [
    { ...task, Retry: [{ ErrorEquals: ['A'], Next: 'N' }] },
    ['S.Retry[0].Next: Forbidden: a retrier has no such field'],
  ],
  [{ ...task, Catch: [{ ErrorEquals: ['A'] }] }, ['S.Catch[0].Next: Required value']],
  [
    {
      ...task,
      Catch: [
        { ErrorEquals: ['A'], Next: 'N', ResultPath: '$.e', Assign: { 'x.$': '$.Error' }, Comment: 'c' },
      ],
    },
    [],
  ],
  [
    { ...task, Catch: [{ ErrorEquals: ['A'], Next: 'N', Output: 1 }] },
    ['S.Catch[0].Output: Forbidden: is for the query language JSONata, and this is JSONPath'],
  ],
  [
    { ...task, Catch: [{ ErrorEquals: ['A'], Next: 'N', MaxAttempts: 1 }] },
    ['S.Catch[0].MaxAttempts: Forbidden: a catcher has no such field'],
  ],
  [{ ...task, Catch: [{ ErrorEquals: ['A'], Next: 'N', Output: '{% $states.errorOutput %}' }] }, [], jsonata],
  [{ Type: 'Pass', End: true, Retry: [] }, ['S.Retry: Forbidden: a Pass state has no such field']],
  [{ Type: 'Parallel', End: true }, ['S.Branches: Required value']],
  [
    { Type: 'Parallel', End: true, Branches: [] },
    ['S.Branches: Invalid value: []: must be a list of machines, at least one'],
  ],
  [
    { Type: 'Parallel', End: true, Branches: {} },
    ['S.Branches: Invalid value: {}: must be a list of machines, at least one'],
  ],
  [
    { Type: 'Parallel', End: true, Branches: [inner, 7] },
    ['S.Branches[1]: Invalid value: 7: must be an object'],
  ],
  [
    { Type: 'Parallel', End: true, Branches: [inner, { ...inner, Version: '1.0' }] },
    [
      'S.Branches[1].Version: Forbidden: a nested machine has no such field',
      'S.Branches[1].States.I: Invalid value: "I": there is another state of this name: S.Branches[0].States.I',
    ],
  ],
  [{ Type: 'Map', End: true }, ['S: Required value: needs one of ItemProcessor, Iterator']],
  [
    { ...map, Iterator: { StartAt: 'J', States: { J: end } } },
    ['S.Iterator: Forbidden: cannot stand beside ItemProcessor'],
  ],
  [
    {
      Type: 'Map',
      End: true,
      Iterator: inner,
      ItemsPath: '$..a',
      MaxConcurrency: 0,
      ToleratedFailureCount: 1,
      ToleratedFailurePercentage: 0.5,
    },
    [],
  ],
  [{ ...map, ItemProcessor: { ...inner, ProcessorConfig: { Mode: 'INLINE' } } }, []],
  [
    { ...map, ItemProcessor: { ...inner, ProcessorConfig: 1 } },
    ['S.ItemProcessor.ProcessorConfig: Invalid value: 1: must be an object'],
  ],
  [
    {
      ...map,
      ItemProcessor: { ...inner, ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' } },
    },
    [
      'S.ItemProcessor.ProcessorConfig.Mode: Forbidden: DISTRIBUTED is not supported; use INLINE',
      'S.ItemProcessor.ProcessorConfig.ExecutionType: Forbidden: is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE',
    ],
  ],
  [
    { ...map, ItemProcessor: { ...inner, ProcessorConfig: { Mode: 'OTHER' } } },
    ['S.ItemProcessor.ProcessorConfig.Mode: Unsupported value: "OTHER": supported values: "INLINE"'],
  ],
  [
    { ...map, ItemReader: {} },
    ['S.ItemReader: Forbidden: is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE'],
  ],
  [
    { ...map, ItemBatcher: {} },
    [
      'S.ItemBatcher: Forbidden: is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE',
    ],
  ],
  [
    { ...map, ResultWriter: {} },
    [
      'S.ResultWriter: Forbidden: is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE',
    ],
  ],
  [
    { ...map, Label: 'x' },
    ['S.Label: Forbidden: is for maps of mode DISTRIBUTED, which are not supported; this one is INLINE'],
  ],
  [
    { ...map, ItemSelector: {}, Parameters: {} },
    ['S.Parameters: Forbidden: cannot stand beside ItemSelector'],
  ],
  [
    { ...map, MaxConcurrency: 1, MaxConcurrencyPath: '$.a' },
    ['S.MaxConcurrencyPath: Forbidden: cannot stand beside MaxConcurrency'],
  ],
  [
    { ...map, MaxConcurrency: -1 },
    ['S.MaxConcurrency: Invalid value: -1: must be an integer from 0 to 99999999'],
  ],
  [
    { ...map, ToleratedFailurePercentage: 101 },
    ['S.ToleratedFailurePercentage: Invalid value: 101: must be a number from 0 to 100'],
  ],
  [
    { ...map, ToleratedFailureCount: 1, ToleratedFailureCountPath: '$.a' },
    ['S.ToleratedFailureCountPath: Forbidden: cannot stand beside ToleratedFailureCount'],
  ],
  [
    { ...map, ToleratedFailurePercentage: 1, ToleratedFailurePercentagePath: '$.a' },
    ['S.ToleratedFailurePercentagePath: Forbidden: cannot stand beside ToleratedFailurePercentage'],
  ],
  [
    { ...map, Items: 7 },
    ['S.Items: Invalid value: 7: must be a list, or an expression that is one'],
    jsonata,
  ],
  [{ ...map, Items: ['{% 1 %}'], ItemSelector: '{% 1 %}', MaxConcurrency: '{% 1 %}' }, [], jsonata],
  [{ Type: 'Choice' }, ['S.Choices: Required value']],
  [{ Type: 'Choice', Choices: [] }, ['S.Choices: Invalid value: []: must be a list of rules, at least one']],
  [
    { Type: 'Choice', Choices: [{ Variable: '$', IsNull: true, Next: 'N' }], Default: 'X' },
    ['S.Default: Invalid value: "X": there is no state of this name beside it'],
  ],
  [
    { Type: 'Choice', Choices: [{ Variable: '$', IsNull: true, Next: 'N' }], Next: 'N' },
    ['S.Next: Forbidden: a Choice state has no such field'],
  ],
];
for (const [state, expected, top = {}] of states)
  test(`${JSON.stringify(state).slice(0, 90)}${'QueryLanguage' in top ? ' (JSONata)' : ''}: ${expected.length === 0 ? 'allowed' : 'refused'}`, () =>
    assert.deepEqual(of(state, top), expected));

const known =
  'ALL BranchFailed DataLimitExceeded ExceedToleratedFailureThreshold HeartbeatTimeout Http.Socket IntrinsicFailure';
const others =
  'ItemReaderFailed NoChoiceMatched ParameterPathFailure Permissions QueryEvaluationError ResultPathMatchFailure';
for (const name of `${known} ${others} ResultWriterFailed Runtime TaskFailed Timeout`.split(' '))
  test(`the error States.${name} is accepted`, () =>
    assert.deepEqual(of({ ...task, Retry: [{ ErrorEquals: [`States.${name}`] }] }), []));

test('an undefined error of the language is rejected', () => {
  const [fault = '', ...more] = of({ ...task, Retry: [{ ErrorEquals: ['States.Nope'] }] });
  assert.match(
    fault,
    /^S\.Retry\[0\]\.ErrorEquals\[0\]: Unsupported value: "States\.Nope": supported values: "States\.ALL", /,
  );
  assert.deepEqual(more, []);
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
  test(`the rule ${JSON.stringify(rule).slice(0, 80)}`, () =>
    assert.deepEqual(
      faults(choice(rule))
        .filter((fault) => !fault.includes('no way leads') && !fault.includes('no end'))
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
  test(`with JSONata the rule ${JSON.stringify(rule).slice(0, 80)}`, () =>
    assert.deepEqual(
      faults({ ...choice(rule), ...jsonata }).map((fault) => fault.replace('d.States.S.Choices', 'C')),
      expected,
    ));

test('a pattern that is too long is refused', () => {
  const [fault = ''] = faults(choice({ Variable: '$', StringMatches: 'x'.repeat(2049), Next: 'E' }));
  assert.match(fault, /StringMatches: .*: is longer than 2048 characters$/);
});

test('a variable that is assigned around a machine cannot be assigned in it', () => {
  const branch = (assign: object) => ({
    StartAt: 'I',
    States: { I: { Type: 'Pass', Assign: assign, End: true } },
  });
  const definition = (assign: object, by: object) => ({
    StartAt: 'A',
    States: { A: { Type: 'Parallel', Branches: [branch(assign)], Next: 'B', ...by }, B: end },
  });
  const told = [
    'd.States.A.Branches[0].States.I.Assign.x: Forbidden: the variable x is assigned outside; here it can only be read',
  ];
  assert.deepEqual(faults(definition({ x: 1 }, { Assign: { 'x.$': '$' } })), told);
  assert.deepEqual(
    faults(definition({ x: 1 }, { Catch: [{ ErrorEquals: ['A'], Next: 'B', Assign: { x: 1 } }] })),
    told,
  );
  assert.deepEqual(faults(definition({ x: 1 }, { Assign: { y: 1 } })), []);
  assert.deepEqual(faults(definition({ x: 1 }, { Type: 'Parallel' })), []);
});

test('sizes have bounds', () => {
  const many = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `S${index}`);
    return {
      StartAt: 'S0',
      States: Object.fromEntries(
        names.map((name, index) => [
          name,
          index === count - 1 ? end : { Type: 'Pass', Next: `S${index + 1}` },
        ]),
      ),
    };
  };
  assert.deepEqual(faults(many(1000)), []);
  assert.deepEqual(faults(many(1001)), ['d.States.S1000: Forbidden: a definition has at most 1000 states']);
  const nested = (levels: number): object => ({
    StartAt: `S${levels}`,
    States: {
      [`S${levels}`]: levels === 1 ? end : { Type: 'Parallel', Branches: [nested(levels - 1)], End: true },
    },
  });
  assert.deepEqual(faults(nested(10)), []);
  assert.match(faults(nested(11)).join(), /: Forbidden: is nested more than 10 levels deep$/);
  assert.deepEqual(faults(nested(60)), [
    'd: Forbidden: the definition holds values in one another more than 100 levels deep',
  ]);
  assert.match(
    faults({ ...many(1), Comment: 'x'.repeat(600_000) }).join(),
    /^d: Forbidden: the definition has more bytes of JSON than 524288$/,
  );
  const broken = {
    StartAt: 'A',
    States: { A: end },
    ...Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, 1])),
  };
  assert.equal(faults(broken).length, 100);
});

test('all expressions together have a bound', () => {
  const names = Array.from({ length: 17 }, (_, index) => `S${index}`);
  const definition = (count: number) => ({
    ...jsonata,
    StartAt: 'S0',
    States: Object.fromEntries(
      names.slice(0, count).map((name, index) => [
        name,
        {
          Type: 'Pass',
          Output: `{%"${'x'.repeat(8190)}"%}`,
          ...(index === count - 1 ? { End: true } : { Next: `S${index + 1}` }),
        },
      ]),
    ),
  });
  assert.deepEqual(faults(definition(16)), []);
  assert.deepEqual(faults(definition(17)), [
    'd.States.S16.Output: Forbidden: all expressions of a definition have at most 131072 characters together',
  ]);
});

const resources: [text: string, expected: object | undefined][] = [
  ['function:f', { type: 'function', name: 'f' }],
  ['function:ns/f', { type: 'function', namespace: 'ns', name: 'f' }],
  ['workflow:my-flow.v1', { type: 'workflow', name: 'my-flow.v1' }],
  ['job:a', { type: 'job', name: 'a' }],
  ['arn:aws:lambda:us-east-1:123456789012:function:hello', { type: 'function', name: 'hello' }],
  ['arn:aws:states:::stateMachine:flow', { type: 'workflow', name: 'flow' }],
  ['arn:aws:sqs:::queue:q', undefined],
  ['function:', undefined],
  ['function:A', undefined],
  ['function:-a', undefined],
  ['function:a/b/c', undefined],
  ['function:a.b/c', undefined],
  ['pod:a', undefined],
  ['xfunction:a', undefined],
  ['function:a ', undefined],
  [`function:${'a.'.repeat(300)}a`, undefined],
];
for (const [text, expected] of resources)
  test(`the resource ${text.slice(0, 60)}`, () => assert.deepEqual(parseResource(text), expected));

test('any JSON gets an answer, and a change to a good definition is never thrown at', () => {
  const random = new SeededRandom(20);
  const words = [
    'StartAt',
    'States',
    'Type',
    'Next',
    'End',
    'Choices',
    'Branches',
    'ItemProcessor',
    'Retry',
    'Catch',
    'Assign',
    'Parameters',
    'And',
    'Not',
    'Variable',
    'ErrorEquals',
    'QueryLanguage',
    'ProcessorConfig',
    'Task',
    'Pass',
    'Map',
    'Parallel',
    'Choice',
    'A',
    '$',
    '$.a',
    '{% 1 %}',
    '{%',
    'x.$',
    '__proto__',
    'constructor',
    'JSONata',
    '',
  ];
  const word = () => words[random.below(words.length)] ?? '';
  const value = (depth: number): unknown => {
    const kind = random.below(depth === 0 ? 5 : 9);
    if (kind === 0) return null;
    if (kind === 1) return random.below(2) === 0;
    if (kind === 2) return random.below(100) - 50;
    if (kind <= 4) return word();
    if (kind === 5) return Array.from({ length: random.below(4) }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: random.below(6) }, () => [word(), value(depth - 1)]));
  };
  const seed = {
    StartAt: 'A',
    States: {
      A: { ...task, Retry: [{ ErrorEquals: ['A'] }], Next: 'B' },
      B: { ...map, Next: 'C' },
      C: { Type: 'Choice', Choices: [{ Not: { Variable: '$', IsNull: true }, Next: 'D' }] },
      D: { Type: 'Parallel', Branches: [{ StartAt: 'J', States: { J: wait } }], End: true },
    },
  };
  const changed = (from: unknown): unknown => {
    if (random.below(12) === 0) return value(3);
    if (Array.isArray(from)) return from.map(changed);
    if (typeof from !== 'object' || from === null) return from;
    return Object.fromEntries(
      Object.entries(from).flatMap(([key, inner]) =>
        random.below(25) === 0 ? [] : [[random.below(40) === 0 ? word() : key, changed(inner)]],
      ),
    );
  };
  for (let round = 0; round < 3000; round++) {
    const definition = round % 2 === 0 ? value(6) : changed(seed);
    const causes = checkDefinition(definition, 'd');
    for (const { field, message } of causes)
      assert.ok(field?.startsWith('d') && message !== '', JSON.stringify(definition));
  }
});
