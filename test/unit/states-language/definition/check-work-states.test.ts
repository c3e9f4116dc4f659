/** Validation of Task, Parallel, Map and Choice states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, inner, jsonata, map, of, task } from './definitions.ts';

/** States with their faults, whose paths begin with the name S of the state; a valid state has none. */
const states: [state: object, expected: string[], top?: object][] = [
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
  test(`${JSON.stringify(state).slice(0, 90)}${'QueryLanguage' in top ? ' (JSONata)' : ''} is ${expected.length === 0 ? 'allowed' : 'refused'}`, () =>
    assert.deepEqual(of(state, top), expected));
