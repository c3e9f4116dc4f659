/** Request of a delivery to its target, and failures after which it is retried. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newForbidden, newInvalid, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { type FunctionCall, Targets } from '../../../../../src/features/triggers/controller/targets.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const trigger = (kind: string) =>
  ({
    metadata: meta('t'),
    spec: { target: { kind, name: 'x' }, retry: { maxAttempts: 3, minSeconds: 1, maxSeconds: 2 } },
  }) as unknown as Trigger;
const event = (status: object = {}) =>
  ({
    metadata: meta('t-1'),
    spec: { trigger: 't', id: 'id-1', depth: 2, chain: ['default/s'], replays: 0, type: 'x', time: 'T' },
    status,
  }) as unknown as TriggerEvent;

function world(answer = { status: 200, text: '' }) {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  const { client } = captured.context ?? assert.fail();
  const called: FunctionCall[] = [];
  const targets = new Targets({
    client,
    functions: server.seen.informerFor(functionResource).lister,
    workflows: server.seen.informerFor(workflowResource).lister,
    callFunction: async (call) => {
      called.push(call);
      return answer;
    },
  });
  const deliver = (kind: string, one = event()) =>
    targets.deliver(trigger(kind), one, new AbortController().signal);
  return { server, called, deliver, problem: (kind: string) => targets.problemOf(trigger(kind)) };
}
const fn = { ...{ apiVersion: 'minik8s.io/v1', kind: 'Function' }, metadata: meta('x') } as unknown as Fn;
const workflow = { ...fn, kind: 'Workflow' } as unknown as Workflow;

it('a missing target is a problem, and a target of the other kind counts as missing', () => {
  const { server, problem } = world();
  for (const [kind, resource, object] of [
    ['Function', functionResource, fn],
    ['Workflow', workflowResource, workflow],
  ] as const) {
    assert.deepEqual(problem(kind), {
      reason: 'TargetMissing',
      message: `there is no ${kind.toLowerCase()} "x" in the namespace "default"`,
    });
    server.put<typeof object>(resource as never, object);
    assert.equal(problem(kind), undefined);
  }
});

describe('a call', () => {
  it('is an event in JSON to the function of the namespace, without a read of a cached function', async () => {
    const { server, called, deliver } = world();
    server.put(functionResource, fn);
    await deliver('Function');
    const [{ namespace, name, headers, body }] = called as [FunctionCall];
    assert.deepEqual(
      [namespace, name, headers['content-type']],
      [...['default', 'x', 'application/cloudevents+json']],
    );
    assert.deepEqual(JSON.parse(body), {
      ...{ specversion: '1.0', id: 'id-1', type: 'x', time: 'T', trigger: 't' },
      datacontenttype: 'application/json',
    });
    assert.deepEqual(server.asked, []);
  });
  it('with a failure status and no body fails with the status as its message', async () => {
    const { server, deliver } = world({ status: 503, text: '' });
    server.put(functionResource, fn);
    assert.deepEqual(await deliver('Function'), { error: 'the function answered 503', status: 503 });
  });
  it('has the id of the event, the chain with this trigger, and the number of further attempts', async () => {
    const { server, called, deliver } = world();
    server.put(functionResource, fn);
    assert.equal(await deliver('Function'), undefined);
    assert.equal(await deliver('Function', event({ attempts: 2 })), undefined);
    const [first, last] = called.map(({ headers }) => headers);
    assert.deepEqual(
      [first?.['function-call-id'], first?.['function-trigger-depth'], first?.['function-trigger-chain']],
      ['id-1', '2', 'default/s,default/t'],
    );
    assert.deepEqual(
      [first?.['function-trigger-retried'], last?.['function-trigger-retried']],
      ['true', undefined],
    );
  });
  it('is made if the cache does not show the function yet, and not if the function does not exist', async () => {
    const { server, called, deliver } = world();
    const none = await deliver('Function');
    assert.deepEqual([none?.status, none?.isFinal, called.length], [404, true, 0]);
    server.store(functionResource, fn);
    assert.equal(await deliver('Function'), undefined);
    assert.equal(called.length, 1);
    server.refuse = () => newStatusError('InternalError', 'the store is away');
    await assert.rejects(deliver('Function'), /the store is away/, 'which may be tried again');
  });
  it('fails without a success status, and may be retried', async () => {
    for (const status of [199, 300, 500]) {
      const { server, deliver } = world({ status, text: 'why' });
      server.put(functionResource, fn);
      assert.deepEqual(await deliver('Function'), { error: `the function answered ${status}: why`, status });
    }
  });
});

describe('a run', () => {
  it('is created once for each event, even if the event is delivered several times', async () => {
    const { server, deliver } = world();
    server.put(workflowResource, workflow);
    assert.equal(await deliver('Workflow'), undefined);
    assert.equal(await deliver('Workflow'), undefined);
    assert.deepEqual(server.names(workflowRunResource), ['t-1']);
    const [run] = server.all(workflowRunResource);
    assert.equal(run?.metadata.annotations?.['minik8s.io/trigger-chain'], 'default/s,default/t');
    assert.match(JSON.stringify(run?.spec.input), /"id":"id-1"/);
  });
  it('is dropped at once if it can never be created; other failures are retried', async () => {
    for (const [error, isFinal] of [
      [newInvalid(workflowRunResource, 't-1', []), true],
      [newForbidden(workflowRunResource, 't-1', 'no'), false],
      [newStatusError('InternalError', 'the store is away'), false],
    ] as const) {
      const { server, deliver } = world();
      server.put(workflowResource, workflow);
      server.refuse = (verb) => (verb === 'create' ? error : undefined);
      assert.equal((await deliver('Workflow'))?.isFinal, isFinal, error.message);
    }
  });
  it('names the workflow, the trigger and the event, without a read of a cached workflow', async () => {
    const { server, deliver } = world();
    server.put(workflowResource, workflow);
    await deliver('Workflow');
    assert.deepEqual(server.asked, ['create WorkflowRun t-1']);
    const [run] = server.all(workflowRunResource);
    assert.deepEqual(
      [run?.apiVersion, run?.kind, run?.spec.workflow],
      [...['minik8s.io/v1', 'WorkflowRun', 'x']],
    );
    assert.deepEqual(
      [run?.metadata.namespace, run?.metadata.labels],
      [...['default', { 'minik8s.io/trigger': 't' }]],
    );
  });
  it('is created if the cache does not show the workflow yet, and not if the workflow does not exist', async () => {
    const { server, deliver } = world();
    assert.deepEqual(await deliver('Workflow'), {
      ...{ error: 'there is no workflow "x" in the namespace "default"', status: 404, isFinal: true },
    });
    assert.deepEqual(server.names(workflowRunResource), []);
    server.store(workflowResource, workflow);
    assert.equal(await deliver('Workflow'), undefined);
    assert.deepEqual(server.names(workflowRunResource), ['t-1']);
    server.refuse = () => newStatusError('InternalError', 'the store is away');
    await assert.rejects(deliver('Workflow'), /the store is away/, 'which may be tried again');
  });
});
