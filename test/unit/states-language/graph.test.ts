/** The graph of a definition, as text, DOT and Mermaid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '../../../src/states-language/definition/types.ts';
import { graph } from '../../../src/states-language/graph/render.ts';
import { defined } from '../../fixtures/workflow-run.ts';

const definition = defined({
  StartAt: 'Get',
  States: {
    Get: {
      Type: 'Task',
      Resource: 'function:get',
      Catch: [{ ErrorEquals: ['A', 'B'], Next: 'Sorry' }],
      Next: 'Is it?',
    },
    'Is it?': {
      Type: 'Choice',
      Choices: [
        { Variable: '$.n', NumericGreaterThan: 20, Next: 'Both' },
        {
          And: [{ Variable: '$.a', IsNull: true }, { Not: { Variable: '$.b', StringEquals: 'x "y"' } }],
          Next: 'Sorry',
        },
        {
          Or: [
            { Variable: '$.a', BooleanEquals: true },
            { Variable: '$.b', StringEqualsPath: '$.c' },
          ],
          Next: 'Each',
        },
      ],
      Default: 'Each',
    },
    Both: {
      Type: 'Parallel',
      Branches: [
        { StartAt: 'L', States: { L: { Type: 'Pass', End: true } } },
        { StartAt: 'R', States: { R: { Type: 'Wait', Seconds: 1, Next: 'R2' }, R2: { Type: 'Succeed' } } },
      ],
      Next: 'Each',
    },
    Each: {
      Type: 'Map',
      ItemProcessor: { StartAt: 'I', States: { I: { Type: 'Pass', End: true } } },
      End: true,
    },
    Sorry: { Type: 'Fail' },
  },
});

test('a workflow is drawn as text', () =>
  assert.equal(
    graph(definition, 'text'),
    `→ Get [Task]
    → Is it?
    → Sorry (on A, B)
  Is it? [Choice]
    → Both ($.n NumericGreaterThan 20)
    → Sorry ($.a IsNull true and not ($.b StringEquals x "y"))
    → Each ($.a BooleanEquals true or $.b StringEqualsPath $.c)
    → Each (otherwise)
  Sorry [Fail] ■
  Both [Parallel]
    → Each
    branch 1:
      → L [Pass] ■
    branch 2:
      → R [Wait]
          → R2
        R2 [Succeed] ■
  Each [Map] ■
    each item:
      → I [Pass] ■
`,
  ));

test('a workflow is drawn as DOT', () =>
  assert.equal(
    graph(definition, 'dot'),
    `digraph workflow {
  node [shape=box, style=rounded];
  sstart [shape=point, label=""];
  sstart -> s0;
  s0 [label="Get"];
  s1 [label="Is it?", shape=diamond];
  s2 [label="Sorry", peripheries=2];
  s3 [label="Both"];
  subgraph cluster_s3_0_ {
    label="Both: branch 1";
    s3_0_start [shape=point, label=""];
    s3_0_start -> s3_0_0;
    s3_0_0 [label="L", peripheries=2];
  }
  s3 -> s3_0_start [style=dashed];
  subgraph cluster_s3_1_ {
    label="Both: branch 2";
    s3_1_start [shape=point, label=""];
    s3_1_start -> s3_1_0;
    s3_1_0 [label="R"];
    s3_1_1 [label="R2", peripheries=2];
    s3_1_0 -> s3_1_1;
  }
  s3 -> s3_1_start [style=dashed];
  s4 [label="Each", peripheries=2];
  subgraph cluster_s4_0_ {
    label="Each: each item";
    s4_0_start [shape=point, label=""];
    s4_0_start -> s4_0_0;
    s4_0_0 [label="I", peripheries=2];
  }
  s4 -> s4_0_start [style=dashed];
  s0 -> s1;
  s0 -> s2 [label="on A, B"];
  s1 -> s3 [label="$.n NumericGreaterThan 20"];
  s1 -> s2 [label="$.a IsNull true and not ($.b StringEquals x \\"y\\")"];
  s1 -> s4 [label="$.a BooleanEquals true or $.b StringEqualsPath $.c"];
  s1 -> s4 [label="otherwise"];
  s3 -> s4;
}
`,
  ));

test('a workflow is drawn as Mermaid', () =>
  assert.equal(
    graph(definition, 'mermaid'),
    `flowchart TD
  sstart((" ")) --> s0
  s0["Get"]
  s1{"Is it#63;"}
  s2(["Sorry"])
  s3["Both"]
  subgraph s3_0_group["Both: branch 1"]
    s3_0_start((" ")) --> s3_0_0
    s3_0_0(["L"])
  end
  s3 -.-> s3_0_start
  subgraph s3_1_group["Both: branch 2"]
    s3_1_start((" ")) --> s3_1_0
    s3_1_0["R"]
    s3_1_1(["R2"])
    s3_1_0 --> s3_1_1
  end
  s3 -.-> s3_1_start
  s4(["Each"])
  subgraph s4_0_group["Each: each item"]
    s4_0_start((" ")) --> s4_0_0
    s4_0_0(["I"])
  end
  s4 -.-> s4_0_start
  s0 --> s1
  s0 -->|"on A, B"| s2
  s1 -->|"$.n NumericGreaterThan 20"| s3
  s1 -->|"$.a IsNull true and not #40;$.b StringEquals x #34;y#34;#41;"| s2
  s1 -->|"$.a BooleanEquals true or $.b StringEqualsPath $.c"| s4
  s1 -->|"otherwise"| s4
  s3 --> s4
`,
  ));

test('conditions of JSONata are drawn without their brackets, and long ones are cut', () => {
  const rule = (Condition: unknown) => ({ Condition, Next: 'E' });
  const text = graph(
    defined({
      QueryLanguage: 'JSONata',
      StartAt: 'S',
      States: {
        S: {
          Type: 'Choice',
          Choices: [
            rule('{% $states.input.a = 1 %}'),
            rule(true),
            rule(`{% $contains("${'x'.repeat(80)}", "y") %}`),
          ],
        },
        E: { Type: 'Succeed' },
      },
    }),
    'text',
  );
  assert.deepEqual(text.match(/\(.*\)/g), [
    '($states.input.a = 1)',
    '(true)',
    `($contains("${'x'.repeat(48)}…)`,
  ]);
});

test('a name cannot break out of its quotes, or of its line', () => {
  const name = 'a"]\n\u001b[31m-->x\\';
  const hostile = { StartAt: name, States: { [name]: { Type: 'Succeed' } } } as Definition;
  assert.equal(graph(hostile, 'text'), '→ a"] [31m-->x\\ [Succeed] ■\n');
  assert.match(graph(hostile, 'dot'), / {2}s0 \[label="a\\"\] \[31m-->x\\\\", peripheries=2\];\n/);
  assert.match(graph(hostile, 'mermaid'), / {2}s0\(\["a#34;#93; #91;31m--#62;x#92;"\]\)\n/);
});
