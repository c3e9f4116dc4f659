/** Validation of a definition: its fields, its expressions, its limits, and any JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDefinition } from '../../../../src/states-language/definition/check-definition.ts';
import { parseResource } from '../../../../src/states-language/resource.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { end, faults, jsonata, map, of, task, wait } from './definitions.ts';

const whole: [name: string, definition: unknown, expected: string[]][] = [
  ['a definition that is a list', [], ['d: Invalid value: []: must be an object']],
  ['an empty definition', {}, ['d.StartAt: Required value', 'd.States: Required value']],
  [
    'a definition without states',
    { StartAt: 'A', States: {} },
    ['d.States: Required value: needs a state at least'],
  ],
  [
    'a definition whose states are a list',
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
    'a StartAt that names no state',
    { StartAt: 'B', States: { A: end } },
    ['d.StartAt: Invalid value: "B": there is no state of this name in States'],
  ],
  [
    'a StartAt with the name of a property of every JavaScript object',
    { StartAt: 'toString', States: { A: end } },
    ['d.StartAt: Invalid value: "toString": there is no state of this name in States'],
  ],
  [
    'an unreachable state',
    { StartAt: 'A', States: { A: end, B: end } },
    ['d.States.B: Invalid value: "B": this state cannot be reached'],
  ],
  [
    'a definition whose end is never reached',
    { StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } } },
    ['d.States: Invalid value: "A": no end is reached: a state with End, a Succeed or a Fail'],
  ],
  [
    'an unknown version',
    { StartAt: 'A', States: { A: end }, Version: '2.0' },
    ['d.Version: Unsupported value: "2.0": supported values: "1.0"'],
  ],
  [
    'a timeout of 0',
    { StartAt: 'A', States: { A: end }, TimeoutSeconds: 0 },
    ['d.TimeoutSeconds: Invalid value: 0: must be an integer from 1 to 99999999'],
  ],
  [
    'an unknown query language',
    { StartAt: 'A', States: { A: end }, QueryLanguage: 'XPath' },
    ['d.QueryLanguage: Unsupported value: "XPath": supported values: "JSONPath", "JSONata"'],
  ],
  [
    'a name of a state that is too long',
    { StartAt: 'x'.repeat(81), States: { ['x'.repeat(81)]: end } },
    [
      `d.States.${'x'.repeat(81)}: Invalid value: "${'x'.repeat(81)}": the name of a state has 1 to 80 characters`,
    ],
  ],
  [
    'an unknown field of a state whose name has a dot',
    { StartAt: 'a.b c', States: { 'a.b c': { ...end, X: 1 } } },
    ['d.States[a.b c].X: Forbidden: a Succeed state has no such field'],
  ],
  [
    'a name that two states have',
    { StartAt: 'I', States: { I: { ...map } } },
    [
      'd.States.I.ItemProcessor.States.I: Invalid value: "I": there is another state of this name: d.States.I',
    ],
  ],
];

for (const [name, definition, expected] of whole)
  test(`${name} is refused`, () => assert.deepEqual(faults(definition), expected));

const good: [name: string, definition: unknown][] = [
  ['a definition of one state', { StartAt: 'A', States: { A: end } }],
  [
    'a definition with all fields',
    {
      Comment: 'c',
      Version: '1.0',
      TimeoutSeconds: 99_999_999,
      QueryLanguage: 'JSONata',
      StartAt: 'A',
      States: { A: end },
    },
  ],
  ['a name of the maximum length', { StartAt: 'x'.repeat(80), States: { ['x'.repeat(80)]: end } }],
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
    'a state named __proto__',
    { StartAt: '__proto__', States: JSON.parse('{"__proto__": {"Type": "Succeed"}}') },
  ],
];

for (const [name, definition] of good)
  test(`${name} is allowed`, () => assert.deepEqual(faults(definition), []));

const known =
  'ALL BranchFailed DataLimitExceeded ExceedToleratedFailureThreshold HeartbeatTimeout Http.Socket IntrinsicFailure';

const others =
  'ItemReaderFailed NoChoiceMatched ParameterPathFailure Permissions QueryEvaluationError ResultPathMatchFailure';

for (const name of `${known} ${others} ResultWriterFailed Runtime TaskFailed Timeout`.split(' '))
  test(`the error States.${name} is accepted`, () =>
    assert.deepEqual(of({ ...task, Retry: [{ ErrorEquals: [`States.${name}`] }] }), []));

test('an unknown error with the prefix States. is rejected', () => {
  const [fault = '', ...more] = of({ ...task, Retry: [{ ErrorEquals: ['States.Nope'] }] });
  assert.match(
    fault,
    /^S\.Retry\[0\]\.ErrorEquals\[0\]: Unsupported value: "States\.Nope": supported values: "States\.ALL", /,
  );
  assert.deepEqual(more, []);
});

test('a variable that an outer state machine assigns cannot be assigned in an inner one', () => {
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

test('the numbers of states, levels, bytes and reported faults are bounded', () => {
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

test('the length of all expressions together is bounded', () => {
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
  test(`the resource "${text.slice(0, 60)}" is ${expected ? 'valid' : 'invalid'}`, () =>
    assert.deepEqual(parseResource(text), expected));

test('any JSON and any changed definition is accepted or rejected without an exception', () => {
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
