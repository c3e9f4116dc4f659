/** Stored definitions of runs, and the objects of their tasks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { subjectAccessReviewResource } from '../../../../../src/api/authorization/v1/subject-access-review.ts';
import { cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import {
  newAlreadyExists,
  newForbidden,
  newStatusError,
} from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import {
  keepDefinition,
  revisionName,
} from '../../../../../src/features/workflows/controller/definitions.ts';
import type { Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { statusOf } from '../../../../../src/features/workflows/controller/run-status-plan.ts';
import { TaskObjects } from '../../../../../src/features/workflows/controller/task-objects.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { meta, start } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const workflow = (definition: object, more: object = {}): Workflow =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: meta('w') },
    spec: { definition, ...more },
  }) as unknown as Workflow;
const run = {
  ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta('r') },
  spec: { workflow: 'w', input: {} },
} as unknown as WorkflowRun;

function world() {
  const captured: { context?: ControllerContext } = {};
  const server = new ScriptedWorld((context) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  });
  return { server, context: captured.context ?? assert.fail() };
}

describe('a definition', () => {
  const pass = { StartAt: 'A', States: { A: { Type: 'Pass', End: true } } };
  const same = { States: { A: { End: true, Type: 'Pass' } }, StartAt: 'A' };
  it('has the same name in every notation, and another definition has another name', () => {
    assert.equal(revisionName(workflow(pass)), revisionName(workflow(same)));
    assert.notEqual(revisionName(workflow(pass)), revisionName(workflow({ ...pass, Comment: 'x' })));
  });
  it('is stored once, and never replaced by another object with its name', async () => {
    const { server, context } = world();
    const { lister } = server.seen.informerFor(controllerRevisionResource);
    const first = await keepDefinition(context.client, lister, workflow(pass));
    // The cache does not show the revision yet.
    assert.deepEqual(await keepDefinition(context.client, lister, workflow(pass)), first);
    assert.deepEqual(server.names(controllerRevisionResource), [first.name]);
    const other = {
      ...(server.stored(controllerRevisionResource, `default/${first.name}`) as KubeObject),
      data: {},
    };
    server.put(controllerRevisionResource, other as never);
    await assert.rejects(keepDefinition(context.client, lister, workflow(pass)), /holds another definition/);
  });
});

describe('the status of a run', () => {
  const base = { format: 1, execution: {}, input: {}, started: start, events: 3 };
  const wait = { for: 'task', resource: 'function:f' };
  const branch = { state: 'A', input: {}, entered: start, visit: 0, attempt: 0, wait };
  const running = { ...base, status: 'Running', root: branch, stopping: [] } as unknown as RunState;
  const facts = { definition: 'w-1', history: [], now: start };
  const mark = (id: string) => ({ id, instance: 'i', time: 'T' });

  it('has exactly the awaited calls', () => {
    const { calls } = statusOf(run, { ...facts, state: running, calls: [mark('0-0'), mark('9-0')] });
    assert.deepEqual(calls, [mark('0-0')]);
  });
  it('has the time at which the run ended, even if it is written again', () => {
    const ended = { ...base, status: 'Aborted', failure: { error: '', cause: '' }, stopping: [] };
    const of = (status: object) =>
      statusOf({ ...run, status } as WorkflowRun, {
        ...facts,
        state: ended as unknown as RunState,
        calls: [],
      });
    assert.equal(of({}).completionTime, '2026-01-01T00:00:00Z');
    assert.equal(of({ completionTime: '2025-01-01T00:00:00Z' }).completionTime, '2025-01-01T00:00:00Z');
  });
  it('keeps the state of an ended run as long as one of its tasks must be stopped', () => {
    const ended = { ...base, status: 'Aborted', failure: { error: '', cause: '' } };
    const of = (stopping: string[]) =>
      statusOf(run, { ...facts, state: { ...ended, stopping } as unknown as RunState, calls: [] });
    assert.equal(of([]).state, undefined);
    assert.match(of(['0-0']).state ?? '', /"stopping":\["0-0"\]/);
  });
});

describe('a task that is an object', () => {
  const task = (type: 'job' | 'workflow', namespace?: string): Task => ({
    ...{ type: 'startTask', id: '0-0', state: 'A', input: { a: 1 } },
    resource: { type, name: type === 'job' ? 'c' : 'w', ...(namespace !== undefined && { namespace }) },
  });
  function objects() {
    const { server, context } = world();
    server.put(workflowResource, workflow({}));
    const template = { spec: { template: { spec: { containers: [{ name: 'main' }] } } } };
    server.put(cronJobResource, {
      kind: 'CronJob',
      metadata: meta('c'),
      spec: { jobTemplate: template },
    } as never);
    return { server, objects: new TaskObjects(context) };
  }

  it('is created once, and is never another object of its name', async () => {
    for (const [type, kind] of [
      ['workflow', workflowRunResource],
      ['job', jobResource],
    ] as const) {
      const { server, objects: tasks } = objects();
      assert.equal(await tasks.look(run, task(type)), undefined);
      // The cache does not show the object yet.
      assert.equal(await tasks.look(run, task(type)), undefined);
      const [made] = server.all<KubeObject>(kind as never);
      assert.ok(made && server.all(kind as never).length === 1);
      server.sync(kind as never);
      assert.equal(await tasks.look(run, task(type)), undefined);
      const stranger = { ...made, spec: {}, metadata: { ...made.metadata, annotations: {} } };
      server.put(kind as never, { ...stranger, status: { phase: 'Succeeded', output: 1 } } as never);
      assert.match(JSON.stringify(await tasks.look(run, task(type))), /Task.NameTaken/, type);
    }
  });
  it('fails if it is rejected, and is retried if it cannot be created now', async () => {
    const { server, objects: tasks } = objects();
    server.refuse = (verb) => (verb === 'create' ? newForbidden(jobResource, 'x', 'no') : undefined);
    assert.match(JSON.stringify(await tasks.look(run, task('job'))), /Task.Refused/);
    server.refuse = (verb) => (verb === 'create' ? newStatusError('InternalError', 'away') : undefined);
    await assert.rejects(tasks.look(run, task('job')), /away/);
    server.refuse = (verb) => (verb === 'create' ? newAlreadyExists(jobResource, 'x') : undefined);
    assert.equal(await tasks.look(run, task('job')), undefined);
  });
  it('continues if the object itself uses up a quota, and fails if other objects do', async () => {
    for (const [type, kind] of [
      ['workflow', workflowRunResource],
      ['job', jobResource],
    ] as const) {
      const { server, objects: tasks } = objects();
      assert.equal(await tasks.look(run, task(type)), undefined);
      const [made] = server.all<KubeObject>(kind as never);
      server.refuse = (verb) => (verb === 'create' ? newForbidden(kind, 'x', 'exceeded quota') : undefined);
      assert.equal(await tasks.look(run, task(type)), undefined, `${type}: the cache does not show it yet`);
      server.store(kind as never, { ...made, spec: {}, metadata: meta(made?.metadata.name ?? '') } as never);
      assert.match(JSON.stringify(await tasks.look(run, task(type))), /Task.Refused.*exceeded quota/);
    }
  });
  it("in another namespace is created after a check of the workflow's account", async () => {
    const { server, objects: tasks } = objects();
    const own = workflow({}, { serviceAccountName: 'robot' });
    assert.equal(await tasks.mayUse(run, own, task('job')), true);
    assert.equal(server.all(subjectAccessReviewResource).length, 0, 'its own namespace is its own');
    assert.equal(await tasks.mayUse(run, own, task('workflow', 'other')), false);
    const [review] = server.all(subjectAccessReviewResource);
    assert.deepEqual(
      [review?.spec.user, review?.spec.resourceAttributes?.namespace, review?.spec.groups?.[1]],
      ['system:serviceaccount:default:robot', 'other', 'system:serviceaccounts:default'],
    );
  });

  /**
   * Returns the rights that are reviewed for a task in the namespace `other`, as VERB RESOURCE.GROUP NAME;
   * those in `allowed` are granted.
   */
  async function reviewed(type: Task['resource']['type'], allowed: readonly string[]) {
    const { context } = world();
    const asked: string[] = [];
    const reviews = {
      create: async ({ spec }: { spec: { resourceAttributes: Record<string, string> } }) => {
        const { verb, group, resource, subresource = '', name = '' } = spec.resourceAttributes;
        const right = `${verb} ${resource}.${group}${subresource && `/${subresource}`}${name && ` ${name}`}`;
        asked.push(right);
        return { spec, status: { allowed: allowed.includes(right) } };
      },
    };
    const client = { resource: () => reviews } as unknown as ControllerContext['client'];
    const one = { ...task('job', 'other'), resource: { type, name: 'c', namespace: 'other' } };
    return { may: await new TaskObjects({ ...context, client }).mayUse(run, undefined, one), asked };
  }
  const rights = {
    function: ['create functions.minik8s.io/invoke c'],
    workflow: ['create workflowruns.minik8s.io'],
    job: ['get cronjobs.batch c', 'create jobs.batch'],
  } as const;
  for (const [type, needed] of Object.entries(rights) as [keyof typeof rights, readonly string[]][]) {
    it(`of type ${type} in another namespace needs each of the rights ${needed.join(', ')}`, async () => {
      assert.deepEqual(await reviewed(type, needed), { may: true, asked: needed });
      for (const missing of needed) {
        const others = needed.filter((right) => right !== missing);
        assert.equal((await reviewed(type, others)).may, false, `without ${missing}`);
      }
    });
  }
});
