/** `ctl workflow` against a server on which the test plays the workflow controller. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Workflow } from '../../../../../src/features/workflows/api/workflow.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { type Ctl, ctlFor } from '../../../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../../../fixtures/https-api-server.ts';

const api = '/apis/minik8s.io/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

let server: HttpsTestServer;
let ctl: Ctl;
let directory: string;

before(async () => {
  server = await startHttpsTestServer({ clock: systemClock });
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
  directory = await mkdtemp(join(tmpdir(), 'minik8s-workflows-'));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const ok = (out: string) => ({ status: 0, out, err: '' });
const stored = async (name: string) =>
  (await server.call('GET', `${api}/workflows/${name}`)).json<Workflow>();
const storedRun = async (name: string) =>
  (await server.call('GET', `${api}/workflowruns/${name}`)).json<WorkflowRun>();

async function file(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const order = {
  StartAt: 'Pay',
  States: {
    Pay: {
      Type: 'Task',
      Resource: 'function:pay',
      Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 30 }],
      Next: 'Rest',
    },
    Rest: { Type: 'Wait', Seconds: 3600, Next: 'Last' },
    Last: {
      Type: 'Choice',
      Choices: [{ Variable: '$.paid', BooleanEquals: true, Next: 'Done' }],
      Default: 'Refused',
    },
    Done: { Type: 'Succeed' },
    Refused: { Type: 'Fail', Error: 'NotPaid', Cause: 'no money' },
  },
};
const plain = 'StartAt: A\nStates:\n  A: {Type: Succeed}\n';

async function madeWorkflow(name: string): Promise<string> {
  const result = await ctl(['workflow', 'create', name, '--definition', await file('plain.yaml', plain)]);
  assert.equal(result.status, 0, result.err);
  return name;
}

/** Starts the workflow without waiting and returns the name of the run. */
async function begun(workflow: string): Promise<string> {
  const { out } = await ctl(['workflow', 'run', workflow, '--wait=false']);
  return /^workflowrun\/(\S+) created\n$/.exec(out)?.[1] ?? assert.fail(out);
}

const report = async (run: string, status: object) => {
  const answer = await server.call('PATCH', `${api}/workflowruns/${run}/status`, { status }, merge);
  assert.equal(answer.status, 200);
};

describe('ctl workflow create and update', () => {
  it('read JSON, YAML, a manifest and standard input', async () => {
    const manifest = { apiVersion: 'minik8s.io/v1', kind: 'Workflow', spec: { definition: order } };
    const wanted = [
      ['json', ['--definition', await file('order.json', order)], order],
      [
        'yaml',
        ['--definition', await file('a.yaml', plain)],
        { StartAt: 'A', States: { A: { Type: 'Succeed' } } },
      ],
      ['manifest', ['--definition', await file('manifest.json', manifest)], order],
      ['stdin', ['--definition', '-'], order],
    ] as const;
    for (const [name, args, definition] of wanted) {
      const stdin = JSON.stringify(order);
      assert.deepEqual(
        await ctl(['workflow', 'create', name, ...args], { stdin }),
        ok(`workflow/${name} created\n`),
      );
      assert.deepEqual((await stored(name)).spec.definition, definition);
    }
  });

  it('keep the fields that an update does not name', async () => {
    await ctl(['workflow', 'create', 'kept', '--public', '--definition', await file('a.yaml', plain)]);
    const args = ['workflow', 'update', 'kept', '--definition', await file('order.json', order)];
    assert.deepEqual(await ctl(args), ok('workflow/kept updated\n'));
    const { spec } = await stored('kept');
    assert.deepEqual([spec.definition, spec.public], [order, true]);
    assert.equal((await ctl(['workflow', 'update', 'kept', '--public=false'])).status, 0);
    const after = (await stored('kept')).spec;
    assert.deepEqual([after.definition, after.public], [order, false]);
  });

  it('report each fault of a definition on its own line, and create nothing', async () => {
    const wrong = { StartAt: 'A', States: { A: { Type: 'Task', Resource: 'x', Next: 'B' } } };
    const result = await ctl([
      'workflow',
      'create',
      'wrong',
      '--definition',
      await file('wrong.json', wrong),
    ]);
    assert.equal(result.status, 1);
    const [head, ...faults] = result.err.trimEnd().split('\n');
    assert.equal(head, 'error: the definition is invalid:');
    assert.deepEqual(
      faults.map((line) => line.slice(0, line.indexOf(': '))),
      ['* definition.States.A.Resource', '* definition.States.A.Next', '* definition.States'],
    );
    assert.equal((await server.call('GET', `${api}/workflows/wrong`)).status, 404);
  });

  for (const [what, args, message] of [
    ['no name', ['create'], /say which workflow: NAME/],
    ['no definition', ['create', 'x'], /give the definition: --definition FILE/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { status, err } = await ctl(['workflow', ...args]);
      assert.deepEqual([status, message.test(err)], [1, true], err);
    });
});

describe('ctl workflow run', () => {
  it('prints the output when the run has succeeded', async () => {
    const workflow = await madeWorkflow('printed');
    const input = await file('input.json', { n: 1 });
    const running = ctl(['workflow', 'run', workflow, '--run-name', 'first', '--input', `@${input}`]);
    while ((await server.call('GET', `${api}/workflowruns/first`)).status !== 200);
    assert.deepEqual((await storedRun('first')).spec, { workflow, input: { n: 1 } });
    await report('first', { phase: 'Running' });
    await report('first', { phase: 'Succeeded', output: { all: ['good'] } });
    assert.deepEqual(await running, ok('{\n  "all": [\n    "good"\n  ]\n}\n'));
  });

  it('fails with the error of the run', async () => {
    const run = await begun(await madeWorkflow('failing'));
    await report(run, { phase: 'Failed', error: 'NotPaid', cause: 'no money' });
    const { status, out, err } = await ctl(['workflow', 'wait', run]);
    assert.deepEqual([status, out], [1, '']);
    assert.equal(err, `error: workflowrun/${run} has failed: NotPaid: no money\n`);
  });

  it('reports that a run continues after an interrupted wait', async () => {
    const run = await begun(await madeWorkflow('slow'));
    const { status, err } = await ctl(['workflow', 'wait', run, '--wait-timeout', '50ms']);
    assert.equal(status, 1);
    assert.match(err, /has not ended within the timeout; it continues/);
  });

  it('refuses a workflow that does not exist, and input that is not JSON', async () => {
    const missing = await ctl(['workflow', 'run', 'nothing']);
    assert.deepEqual(
      [missing.status, /workflows\.minik8s\.io "nothing" not found/.test(missing.err)],
      [1, true],
    );
    const wrong = await ctl(['workflow', 'run', 'printed', '--input', '{']);
    assert.deepEqual([wrong.status, /must be JSON, such as/.test(wrong.err)], [1, true]);
    const { items } = (await server.call('GET', `${api}/workflowruns`)).json<{ items: WorkflowRun[] }>();
    assert.ok(!items.some(({ spec }) => spec.workflow === 'nothing'));
  });

  it('lists runs', async () => {
    const run = await begun(await madeWorkflow('listed'));
    const { out } = await ctl(['workflow', 'runs', '--field-selector', 'spec.workflow=listed']);
    assert.match(out, new RegExp(`^NAME .*\\n${run} +listed +Pending`));
    assert.equal(out.split('\n').length, 3);
  });
});

it('ctl workflow stop sets the error and the cause', async () => {
  const run = await begun(await madeWorkflow('stopped'));
  const { out } = await ctl(['workflow', 'stop', run, '--error', 'Enough', '--cause', 'no need']);
  assert.equal(out, `workflowrun/${run} is being stopped\n`);
  assert.deepEqual((await storedRun(run)).spec.stop, { error: 'Enough', cause: 'no need' });
});

it('ctl workflow stop reports that a run has already ended', async () => {
  const run = await begun(await madeWorkflow('over'));
  await report(run, { phase: 'Succeeded', output: 1 });
  const { status, err } = await ctl(['workflow', 'stop', run]);
  assert.deepEqual([status, err], [1, `error: workflowrun/${run} has ended already: Succeeded\n`]);
  assert.equal((await storedRun(run)).spec.stop, undefined);
});

it('ctl workflow wait reports a run that does not exist', async () => {
  assert.match(
    (await ctl(['workflow', 'wait', 'nothing'])).err,
    /workflowruns\.minik8s\.io "nothing" not found/,
  );
});

it('ctl workflow create reports only that a file does not exist', async () => {
  const { err } = await ctl(['workflow', 'create', 'x', '--definition', 'none.json']);
  assert.equal(err, 'error: the path "none.json" does not exist\n');
});

describe('ctl workflow history', () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;

  it('shows entries that were moved out of the run, in order, each once', async () => {
    const run = await begun(await madeWorkflow('long'));
    const { uid = '' } = (await storedRun(run)).metadata;
    const entry = (id: number, more: object = {}) => ({
      id,
      time: at(id),
      type: 'PassStateEntered',
      ...more,
    });
    const owner = { apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', name: run, uid };
    const chunk = (name: string, ownerUid: string, entries: object[]) =>
      server.call('POST', `${api}/workflowhistories`, {
        apiVersion: 'minik8s.io/v1',
        kind: 'WorkflowHistory',
        metadata: { name, ownerReferences: [{ ...owner, uid: ownerUid }] },
        spec: { run, entries },
      });
    assert.equal((await chunk(`${run}-0001`, uid, [entry(1), entry(2)])).status, 201);
    // The history of a deleted run of the same name.
    assert.equal((await chunk(`${run}-0002`, 'another', [entry(9)])).status, 201);
    const last = entry(3, {
      type: 'TaskFailed',
      state: 'Pay',
      task: '0-0',
      detail: { error: 'Busy' },
      input: '[1]',
    });
    await report(run, { phase: 'Running', startTime: at(1), history: [entry(2), last], historyCount: 3 });
    const { out } = await ctl(['workflow', 'history', run]);
    assert.deepEqual(
      out.split('\n').map((line) => line.trimEnd().replaceAll(/ {2,}/g, '|')),
      [
        'ID|AFTER|TYPE|STATE|TASK|DETAIL',
        '1|0ms|PassStateEntered',
        '2|1s|PassStateEntered',
        '3|2s|TaskFailed|Pay|0-0|error=Busy input=[1]',
        '',
      ],
    );
    const json = JSON.parse((await ctl(['workflow', 'history', run, '-o', 'json'])).out) as {
      entries: object[];
    };
    assert.deepEqual(json.entries[2], last);
  });

  it('is empty for a run that has not started', async () => {
    const run = await begun(await madeWorkflow('waiting'));
    const { status, out } = await ctl(['workflow', 'history', run]);
    assert.deepEqual([status, out.split('\n').length], [0, 2]);
  });
});

describe('ctl workflow graph', () => {
  it('draws a workflow of the cluster, and a file without one', async () => {
    await ctl(['workflow', 'create', 'drawn', '--definition', await file('order.json', order)]);
    const text = await ctl(['workflow', 'graph', 'drawn']);
    assert.match(text.out, /^→ Pay \[Task\]\n {4}→ Rest\n/);
    const alone = ctlFor(undefined);
    assert.match(
      (await alone(['workflow', 'graph', '--definition', join(directory, 'order.json'), '-o', 'dot'])).out,
      /^digraph workflow \{/,
    );
    assert.match(
      (await ctl(['workflow', 'graph', 'drawn', '-o', 'mermaid'])).out,
      /^(flowchart|stateDiagram)/,
    );
  });

  for (const args of [[], ['drawn', '--definition', 'x'], ['drawn', 'more']])
    it(`rejects ${args.length > 0 ? `the arguments ${args.join(' ')}` : 'a command without arguments'}`, async () => {
      const { status, err } = await ctl(['workflow', 'graph', ...args]);
      assert.equal(status, 1);
      assert.match(err, /say one workflow: NAME, or --definition FILE/);
    });
});

describe('ctl workflow test', () => {
  const test = async (answers: unknown, ...args: string[]) =>
    ctlFor(undefined)([
      ...['workflow', 'test', '--definition', await file('order.json', order)],
      ...['--answers', await file('answers.json', answers), ...args],
    ]);

  it('answers tasks in turn, and does not wait', async () => {
    const answers = { Pay: [{ error: 'Busy', cause: 'later' }, { output: { paid: true } }] };
    const { status, out, err } = await test(answers);
    assert.equal(status, 0, err);
    assert.deepEqual(JSON.parse(out), { paid: true });
    assert.match(err, /RetryScheduled +Pay .*error=Busy/);
    assert.match(err, /1h0m30s +ExecutionSucceeded/);
  });

  it('uses the name of the function if it has no input for the state', async () => {
    const { status, err } = await test({ 'function:pay': { output: { paid: false } } });
    assert.equal(status, 1);
    assert.match(err, /error: the run has failed: NotPaid: no money\n$/);
  });

  it('a passed timeout fails the task', async () => {
    assert.match(
      (await test({ Pay: { error: 'States.Timeout' } })).err,
      /the run has failed: States\.Timeout/,
    );
  });

  for (const [what, answers, message] of [
    ['no answer', {}, '--answers has no entry for the state Pay or for function:pay'],
    ['no table', [], 'expected an object from names of states to the results of their tasks'],
    ['an empty list', { Pay: [] }, 'Pay: there is no answer in the list'],
    ['another form', { Pay: { out: 1 } }, 'Pay: expected {"output": JSON} or {"error": NAME, "cause": TEXT}'],
    [
      'both',
      { Pay: { output: 1, error: 'x' } },
      'Pay: expected {"output": JSON} or {"error": NAME, "cause": TEXT}',
    ],
  ] as const)
    it(`reports ${what}: ${message}`, async () => {
      const { status, err } = await test(answers);
      assert.equal(status, 1);
      assert.ok(err.endsWith(`error: ${message}\n`), err);
    });

  it('evaluates JSONata', async () => {
    const definition = {
      QueryLanguage: 'JSONata',
      StartAt: 'Add',
      States: { Add: { Type: 'Pass', Output: '{% $sum($states.input.list) %}', End: true } },
    };
    const args = [
      'workflow',
      'test',
      '--definition',
      await file('jsonata.json', definition),
      '--input',
      '{"list":[1,2,3]}',
    ];
    assert.equal((await ctlFor(undefined)(args)).out, '6\n');
  });
});
