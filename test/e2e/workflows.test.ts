/**
 * Workflows of the built file over real functions: every kind of state, a master that is killed during a run,
 * Jobs, runs that are stopped.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1PodList } from '@kubernetes/client-node';
import { freePort } from '../fixtures/free-port.ts';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster } from './harness/cluster.ts';
import { firstCause } from './harness/first-cause.ts';
import { gatewayCaller, removeFunctionImages } from './harness/gateway-calls.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

const nodejs = `minik8s-test/nodejs-workflows:${process.pid}`;

const program = `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const note = (name, { callId }) => console.log('call', name, callId);
const named = (name, message) => Object.assign(new Error(message), { name });
const tried = new Set();

export async function check(order, context) {
  note('check', context);
  await wait(3000);
  return { ...order, total: order.items.length * 60 };
}
export async function pay({ order }, context) {
  note('pay', context);
  await wait(3000);
  if (tried.has(order)) return 'paid';
  tried.add(order);
  throw named('Busy', 'the bank is busy');
}
export async function pack({ item }, context) {
  note('pack', context);
  await wait(3000);
  if (item === 'vase') throw named('Broken', 'the vase is broken');
  return 'packed ' + item;
}
export async function mail(order, context) {
  note('mail', context);
  await wait(3000);
  return { sent: order.done };
}
`;

const task = (resource: string, more: object) => ({ Type: 'Task', Resource: resource, ...more });

const orderDefinition = {
  StartAt: 'Check',
  States: {
    Check: task('function:check', { Next: 'Large' }),
    Large: {
      Type: 'Choice',
      Choices: [{ Variable: '$.total', NumericGreaterThan: 100, Next: 'Work' }],
      Default: 'Refuse',
    },
    Refuse: { Type: 'Fail', Error: 'TooSmall', Cause: 'the order is too small' },
    Work: {
      Type: 'Parallel',
      ResultPath: '$.done',
      Next: 'Mail',
      Branches: [
        {
          StartAt: 'Pay',
          States: {
            Pay: task('function:pay', {
              Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 1, MaxAttempts: 3 }],
              End: true,
            }),
          },
        },
        {
          StartAt: 'PackAll',
          States: {
            PackAll: {
              Type: 'Map',
              ItemsPath: '$.items',
              ItemSelector: { 'item.$': '$$.Map.Item.Value' },
              ItemProcessor: {
                StartAt: 'Pack',
                States: {
                  Pack: task('function:pack', {
                    Catch: [{ ErrorEquals: ['Broken'], Next: 'Replace' }],
                    End: true,
                  }),
                  Replace: { Type: 'Pass', Result: 'replaced', End: true },
                },
              },
              End: true,
            },
          },
        },
      ],
    },
    Mail: task('function:mail', { End: true }),
  },
};

const single = (state: object) => ({ StartAt: 'Only', States: { Only: state } });

interface Run {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly workflow: string };
  readonly status?: {
    readonly phase?: string;
    readonly output?: unknown;
    readonly error?: string;
    readonly cause?: string;
  };
}

await lockMachine();

test('workflows run over real functions', async (context) => {
  await makeRuntimeImage('nodejs', nodejs);
  context.after(() => removeFunctionImages([nodejs]));
  const gatewayPort = await freePort();
  const cluster = await Cluster.start(context, {
    flags: ['--gateway-port', String(gatewayPort), '--nodejs-image', nodejs],
  });
  const { kubectl } = cluster;
  const call = gatewayCaller(context, cluster, gatewayPort);
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const apply = (object: object) => kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(object) });
  const workflow = async (name: string, definition: object) => {
    const { stderr, code } = await apply({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name },
      spec: { definition },
    });
    assert.equal(code, 0, stderr);
  };
  const begin = async (name: string, of: string, input: unknown) => {
    const spec = { workflow: of, input };
    const { stderr, code } = await apply({
      apiVersion: 'minik8s.io/v1',
      kind: 'WorkflowRun',
      metadata: { name },
      spec,
    });
    assert.equal(code, 0, stderr);
  };
  const run = (name: string) => kubectl.json<Run>('get', 'workflowrun', name);
  const isOver = ({ status }: Run) => !['Pending', 'Running', undefined].includes(status?.phase);
  const ended = (name: string, timeoutMs = 60_000) =>
    waitFor(
      `run ${name} to end`,
      async () => {
        const one = await run(name).catch(() => undefined);
        return one && isOver(one) && one;
      },
      { timeoutMs },
    );
  const folder = join(cluster.dataDir, 'shop');
  await mkdir(folder);
  await writeFile(join(folder, 'main.mjs'), program);
  const functions = ['check', 'pay', 'pack', 'mail'];
  for (const name of functions)
    await ctl(
      'function',
      'create',
      name,
      '--from',
      folder,
      '--handler',
      `main.${name}`,
      '--idle-seconds',
      '600',
      '--wait',
    );
  /** Returns how often each function was called, by the logs of its instances. */
  const called = async () => {
    const counts = await Promise.all(
      functions.map(async (name) => {
        const { items } = await kubectl.json<V1PodList>('get', 'pods', '-l', `minik8s.io/function=${name}`);
        const logs = await Promise.all(items.map(({ metadata }) => kubectl('logs', metadata?.name ?? '')));
        return [name, logs.flatMap((log) => log.match(/^call /gm) ?? []).length] as const;
      }),
    );
    return Object.fromEntries(counts);
  };

  await context.test('an invalid definition is rejected with the name of the field', async () => {
    const { stderr } = await apply({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name: 'wrong' },
      spec: { definition: { StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' } } } },
    });
    assert.match(stderr, /spec\.definition\.States\.A\.Next: Invalid value: "B"/);
  });

  await context.test(
    'a run continues from its last state when its master is killed, and repeats no call',
    async () => {
      await workflow('order', orderDefinition);
      await begin('order-1', 'order', { order: 1, items: ['cup', 'vase'] });
      let kills = 0;
      for (let last = await run('order-1'); !isOver(last); ) {
        await new Promise((resolve) => setTimeout(resolve, 700));
        await cluster.end('SIGKILL');
        kills++;
        await cluster.up();
        // On a busy machine a master that is killed after a fixed time may never write a step.
        last = await waitFor('the run to go on', async () => {
          const now = await run('order-1');
          return now.metadata.resourceVersion !== last.metadata.resourceVersion && now;
        });
      }
      const { status } = await ended('order-1');
      assert.deepEqual(
        [status?.phase, status?.output, status?.cause],
        ['Succeeded', { sent: ['paid', ['packed cup', 'replaced']] }, undefined],
      );
      // On a busy machine a run may end before it is read again.
      assert.ok(kills >= 1, 'it ended before its master was killed');
      assert.deepEqual(await called(), { check: 1, pay: 2, pack: 2, mail: 1 });
    },
  );

  await context.test('a workflow that is called by HTTP answers with its output or its error', async () => {
    const large = await call('/workflow/order', { order: 2, items: ['cup', 'pot'] });
    assert.deepEqual(large, { status: 200, text: '{"sent":["paid",["packed cup","packed pot"]]}' });
    const small = await call('/workflow/default/order', { order: 3, items: ['cup'] });
    assert.deepEqual(
      [small.status, JSON.parse(small.text)],
      [500, { error: 'TooSmall', cause: 'the order is too small' }],
    );
    assert.equal((await call('/workflow/nobody', {})).status, 404);
    const cause = await firstCause(ctl, 'workflow/order');
    assert.equal(cause?.rule, 'workflow-run-failed');
    assert.equal(cause.says, 'state Refuse has failed with TooSmall: the order is too small');
    const again = cause.commands[0]?.replace('INPUT', '{"order":4,"items":["cup","pot"]}').split(' ') ?? [];
    await ctl(...again);
    assert.equal(await firstCause(ctl, 'workflow/order'), undefined);
  });

  await context.test('another workflow and a Job can be tasks', async () => {
    await workflow('inner', {
      QueryLanguage: 'JSONata',
      ...single({ Type: 'Pass', Output: '{% $sum($states.input.list) %}', End: true }),
    });
    await workflow('outer', single(task('workflow:inner', { End: true })));
    assert.deepEqual(await call('/workflow/outer', { list: [1, 2, 3] }), { status: 200, text: '6' });
    const { code, stderr } = await apply({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'report' },
      spec: {
        schedule: '0 0 1 1 *',
        suspend: true,
        jobTemplate: {
          spec: {
            template: {
              spec: {
                restartPolicy: 'Never',
                containers: [
                  {
                    name: 'main',
                    image: helloImage,
                    command: ['sh', '-c', 'echo "{\\"got\\":$TASK_INPUT}" > /dev/termination-log'],
                  },
                ],
              },
            },
          },
        },
      },
    });
    assert.equal(code, 0, stderr);
    await workflow('reporting', single(task('job:report', { End: true })));
    assert.deepEqual(await call('/workflow/reporting', { month: 5 }), {
      status: 200,
      text: '{"got":{"month":5}}',
    });
  });

  await context.test('a run can be stopped', async () => {
    await workflow('long', single({ Type: 'Wait', Seconds: 3600, End: true }));
    await begin('long-1', 'long', {});
    await waitFor('the run to start', async () => (await run('long-1')).status?.phase === 'Running');
    await kubectl(
      'patch',
      'workflowrun',
      'long-1',
      '--type=merge',
      '-p',
      '{"spec":{"stop":{"error":"Enough","cause":"a test said so"}}}',
    );
    const { status } = await ended('long-1');
    assert.deepEqual([status?.phase, status?.error, status?.cause], ['Aborted', 'Enough', 'a test said so']);
    const table = await kubectl('get', 'workflowruns', 'long-1');
    assert.match(table, /NAME\s+WORKFLOW\s+PHASE\s+STATE\s+AGE\nlong-1\s+long\s+Aborted\s+<none>/);
  });

  await context.test('deleted objects leave nothing behind', async () => {
    await kubectl('delete', 'workflows', '--all');
    await waitFor('the removal of the runs', async () => (await kubectl('get', 'workflowruns')) === '');
    await kubectl('delete', 'functions', '--all');
    await waitFor(
      'the removal of the pods',
      async () => (await kubectl.json<V1PodList>('get', 'pods')).items.length === 0,
      { timeoutMs: 90_000 },
    );
  });
});
