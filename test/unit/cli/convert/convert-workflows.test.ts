/** Workflows of other small systems: the converted workflow does the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { convert } from '../../../../src/cli/convert/convert-plan.ts';
import { workflowOfLines } from '../../../../src/cli/convert/workflow-lines.ts';
import type { Json } from '../../../../src/states-language/json.ts';
import { WorkflowRun } from '../../../fixtures/workflow-run.ts';

const converted = (object: JsonObject) => convert([{ where: 'f:1', object }], kubernetesFields);

function one(object: JsonObject): { readonly object: JsonObject; readonly definition: JsonObject } {
  const { objects, errors } = converted(object);
  assert.deepEqual(errors, []);
  const [first] = objects as [JsonObject & { spec: { definition: JsonObject } }];
  return { object: first, definition: first.spec.definition };
}

/** Returns the functions that the workflow calls, in order, with these answers; and its output. */
async function path(
  definition: JsonObject,
  input: Json,
  answers: Record<string, (given: Json) => Json> = {},
) {
  const run = await WorkflowRun.start(definition, input);
  await run.finish(({ resource, input: given }) => ({
    output: (answers[resource.name] ?? ((it) => it))(given),
  }));
  const called = run.tasks.map(({ resource: { namespace, name } }) =>
    namespace ? `${namespace}/${name}` : name,
  );
  return { called, output: run.output };
}

const nodes = {
  kind: 'Workflow',
  name: 'Order_Flow',
  StartAt: 'check',
  WorkflowNodes: [
    { Type: 'Task', Name: 'check', Next: 'branch' },
    {
      Type: 'Choice',
      Name: 'branch',
      Choices: [
        { variable: 'n', Condition: 'NumericGreaterThanOrEqual', Number: 5, Next: 'big' },
        { variable: '$.n', Condition: 'NumericNotEquals', Number: 1, Next: 'small' },
      ],
    },
    { Type: 'Task', Name: 'big', End: true },
    { Type: 'Task', Name: 'small', Next: 'big' },
    { Type: 'Task', Name: 'never', End: true },
  ],
};

test('a choice without a match ends a workflow that is a list of nodes', async () => {
  const { object, definition } = one(nodes);
  assert.equal(object.apiVersion, 'minik8s.io/v1');
  assert.deepEqual(object.metadata, { name: 'order-flow' });
  assert.deepEqual(await path(definition, { n: 5 }), { called: ['check', 'big'], output: { n: 5 } });
  assert.deepEqual((await path(definition, { n: 4 })).called, ['check', 'small', 'big']);
  assert.deepEqual(await path(definition, { n: 1 }), { called: ['check'], output: { n: 1 } });
});

test('a node that cannot be reached is reported', () => {
  assert.deepEqual(converted(nodes).notes, [
    'f:1: name: Order_Flow becomes order-flow',
    'f:1: never: left out: no state leads to it',
  ]);
});

test('nodes with funcData and choiceData become a workflow with one run', async () => {
  const { objects, notes, errors } = converted({
    apiVersion: 'v1',
    kind: 'workflow',
    metadata: { name: 'flow', namespace: 'shop' },
    spec: {
      entryParams: '{"who": "me"}',
      entryNodeName: 'first',
      workflowNodes: [
        {
          name: 'first',
          type: 'func',
          funcData: { funcName: 'greet', funcNamespace: 'shop', nextNodeName: 'if' },
        },
        {
          name: 'if',
          type: 'choice',
          choiceData: {
            checkType: 'strNotEqual',
            checkVarName: 'who',
            compareValue: 'me',
            trueNextNodeName: 'other',
            falseNextNodeName: '',
          },
        },
        {
          name: 'other',
          type: 'func',
          funcData: { funcName: 'tell', funcNamespace: 'else', nextNodeName: '' },
        },
      ],
    },
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(notes, [
    "f:1: spec.other: the workflow's service account must be allowed to call functions of else",
  ]);
  const [workflow, run] = objects as [JsonObject & { spec: { definition: JsonObject } }, JsonObject];
  assert.deepEqual(run, {
    apiVersion: 'minik8s.io/v1',
    kind: 'WorkflowRun',
    metadata: { name: 'flow', namespace: 'shop' },
    spec: { workflow: 'flow', input: { who: 'me' } },
  });
  const { definition } = workflow.spec;
  assert.deepEqual((await path(definition, { who: 'me' })).called, ['greet']);
  assert.deepEqual((await path(definition, { who: 'you' })).called, ['greet', 'else/tell']);
});

for (const [type, value, input, holds] of [
  ['numEqual', 5, 5, true],
  ['numEqual', '5', 5, true],
  ['numNotEqual', 5, 5, false],
  ['numGreaterThan', 5, 5, false],
  ['numGreaterAndEqualThan', 5, 5, true],
  ['numLessThan', 5, 4, true],
  ['numLessAndEqualThan', 5, 6, false],
  ['strEqual', 'a', 'a', true],
  ['strNotEqual', 'a', 'b', true],
  ['strGreaterThan', 'a', 'b', true],
  ['strLessAndEqualThan', 'a', 'b', false],
] as const)
  test(`the choice ${type} ${value} ${holds ? 'holds' : 'does not hold'} for the input ${JSON.stringify(input)}`, async () => {
    const choiceData = {
      checkType: type,
      checkVarName: 'v',
      compareValue: value,
      trueNextNodeName: 'yes',
      falseNextNodeName: 'no',
    };
    const workflowNodes = [
      { name: 'c', type: 'choice', choiceData },
      { name: 'yes', type: 'func', funcData: { funcName: 'yes' } },
      { name: 'no', type: 'func', funcData: { funcName: 'no' } },
    ];
    const spec = { entryNodeName: 'c', workflowNodes };
    const { objects, errors } = converted({ kind: 'Workflow', metadata: { name: 'w' }, spec });
    assert.deepEqual(errors, []);
    const { definition } = (objects[0] as { spec: { definition: JsonObject } }).spec;
    assert.deepEqual((await path(definition, { v: input })).called, [holds ? 'yes' : 'no']);
  });

test('a choice without a match fails in a workflow of states, whose resources are functions', async () => {
  const { object, definition } = one({
    Name: 'machine',
    StartAt: 'Get',
    States: {
      Get: { Type: 'Task', Resource: 'get_user', Next: 'Which' },
      Which: { Type: 'Choice', Choices: [{ Variable: '$.type', StringEquals: 'a', Next: 'A' }] },
      A: { Type: 'Task', Resource: 'a', End: true },
    },
  });
  assert.deepEqual(object.metadata, { name: 'machine' });
  assert.deepEqual((await path(definition, { type: 'a' })).called, ['get-user', 'a']);
  const failed = await WorkflowRun.start(definition, { type: 'b' });
  await failed.finish(({ input }) => ({ output: input }));
  assert.equal(failed.error, 'States.NoChoiceMatched');
});

for (const [what, object, message] of [
  ['no nodes', { kind: 'Workflow', name: 'w' }, 'WorkflowNodes: the list is empty'],
  [
    'two of a name',
    { kind: 'Workflow', name: 'w', WorkflowNodes: [1, 2].map(() => ({ Type: 'Task', Name: 'a' })) },
    'node a: two nodes have this name',
  ],
  [
    'another type',
    { kind: 'Workflow', name: 'w', WorkflowNodes: [{ Type: 'Wait', Name: 'a' }] },
    'node a: its type "Wait" is neither Task nor Choice',
  ],
  [
    'a node that does not exist',
    { kind: 'Workflow', name: 'w', WorkflowNodes: [{ Type: 'Task', Name: 'a', Next: 'b' }] },
    /^definition\.States\.a\.Next: .*"b"/,
  ],
  [
    'input that is no JSON',
    {
      kind: 'Workflow',
      name: 'w',
      spec: { entryParams: '{', entryNodeName: 'a', workflowNodes: [{ name: 'a', type: 'func' }] },
    },
    /^entryParams: invalid JSON/,
  ],
  [
    'a comparison of another kind',
    {
      kind: 'Workflow',
      name: 'w',
      WorkflowNodes: [
        { Type: 'Choice', Name: 'a', Choices: [{ variable: 'x', Condition: 'Like', Next: 'a' }] },
      ],
    },
    '"Like" is not a comparison',
  ],
  [
    'an invalid number',
    {
      kind: 'Workflow',
      name: 'w',
      WorkflowNodes: [
        {
          Type: 'Choice',
          Name: 'a',
          Choices: [{ variable: 'x', Condition: 'NumericEquals', Number: 'y', Next: 'a' }],
        },
      ],
    },
    'NumericEquals: "y" is not a number',
  ],
] as const)
  test(`a workflow is not converted, with an error that names the fault: ${what}`, () => {
    const { objects, errors } = converted(object as unknown as JsonObject);
    assert.deepEqual(objects, []);
    assert.match(
      errors[0]?.message ?? '',
      typeof message === 'string'
        ? new RegExp(`^f:1: ${escaped(message)}$`)
        : new RegExp(message.source.replace('^', '^f:1: ')),
    );
  });

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const lines = (text: string) => workflowOfLines(text, () => undefined);

test('a workflow of lines passes the output of a line to the next line', async () => {
  const definition = lines('double\n\n# a comment\ndouble\n');
  const answers = { double: (it: Json) => Number(it) * 2 };
  assert.deepEqual(await path(definition, 3, answers), { called: ['double', 'double'], output: 12 });
});

for (const [line, input, called] of [
  ['IF EQUALS 5 THEN a ELSE b', 5, 'a'],
  ['IF EQUALS 5 THEN a ELSE b', '5', 'b'],
  ['IF EQUALS red THEN a ELSE b', 'red', 'a'],
  ['IF NEQ red THEN a ELSE b', 'red', 'b'],
  ['IF GREATER 5 THEN a ELSE b', 10, 'a'],
  ['IF GREATER 5 THEN a ELSE b', 5, 'b'],
  ['IF LESS 5 THEN a ELSE a', 4, 'a'],
] as const)
  test(`the line ${line} calls ${called} for the input ${JSON.stringify(input)}`, async () => {
    assert.deepEqual((await path(lines(`${line}\nlast`), input)).called, [called, 'last']);
  });

for (const [times, last] of [
  [0, ''],
  [3, ''],
  [3, '\nlast'],
  [200, ''],
] as const)
  test(`the line FOR ${times} TIMES calls the function ${times} times${last && ', and then the next line'}`, async () => {
    const definition = lines(`FOR ${times} TIMES DO inc${last}`);
    const answers = { inc: (it: Json) => Number(it) + 1 };
    const { called, output } = await path(definition, 0, answers);
    assert.equal(output, times);
    assert.equal(called.length, times + (last === '' ? 0 : 1));
  });

test('each of two loops in a workflow of lines has a separate counter', async () => {
  const answers = { inc: (it: Json) => Number(it) + 1 };
  const { output } = await path(lines('FOR 2 TIMES DO inc\nFOR 3 TIMES DO inc'), 0, answers);
  assert.equal(output, 5);
});

for (const [text, message] of [
  ['', 'the workflow has no lines'],
  ['a b', /^line 1: expected NAME/],
  ['a\nIF EQUAL 1 THEN a ELSE b', /^line 2: expected NAME/],
  ['FOR x TIMES DO f', /^line 1: expected NAME/],
] as const)
  test(`a workflow with the invalid lines ${JSON.stringify(text)} is rejected`, () => {
    assert.throws(() => lines(text), { message });
  });
