/**
 * Runs of workflows while each request in turn is rejected, loses its answer, or is the last one of its
 * process.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { taskErrors } from '../../../../../src/features/workflows/controller/task-objects-plan.ts';
import { workflowRunController } from '../../../../../src/features/workflows/controller/workflow-run.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../../fixtures/fake-functions.ts';
import { atEachRequest } from '../../../controllers/at-each-request.ts';
import { meta } from '../../../controllers/objects.ts';

const kinds = [workflowResource, controllerRevisionResource, jobResource, workflowRunResource];
const step = (name: string, more: object) => ({ Type: 'Task', Resource: `function:${name}`, ...more });
const call = (name: string) => ({ StartAt: name, States: { [name]: step(name, { End: true }) } });
const retried = { Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 3 }], End: true };

const workflow = (definition: object): Workflow =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: meta('w') },
    spec: { definition, serviceAccountName: 'default', public: false, runsHistoryLimit: 10 },
  }) as unknown as Workflow;
const run = (name: string, spec: object = {}): WorkflowRun =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta(name) },
    spec: { workflow: 'w', ...spec },
  }) as unknown as WorkflowRun;

function functionsOf() {
  const functions = new FakeFunctions(new FakeClock());
  functions.handle = ({ function: name, before }) =>
    name === 'flaky' && before === 0 ? { error: 'Busy' } : name === 'hangs' ? 'never' : { output: name };
  return functions;
}

it('each task of a run is called once if any requests fail', async () => {
  const functions = functionsOf();
  const options = {
    ...{ keys: ['default/r'], kinds },
    factory: (context: ControllerContext) =>
      workflowRunController({ placedCalls: functions.calls() })(context),
  };
  await atEachRequest(options, async (world) => {
    functions.reset();
    const both = {
      ...{ Type: 'Parallel', Next: 'last' },
      Branches: [{ StartAt: 'flaky', States: { flaky: step('flaky', retried) } }, call('quick')],
    };
    world.server.put(
      workflowResource,
      workflow({ StartAt: 'Both', States: { Both: both, last: step('last', { End: true }) } }),
    );
    world.server.put(workflowRunResource, run('r'));
    await world.settle();
    const { status, metadata } = world.server.stored(workflowRunResource, 'default/r') ?? assert.fail();
    assert.deepEqual([status?.phase, status?.output, status?.state], ['Succeeded', 'last', undefined]);
    assert.deepEqual(
      metadata.ownerReferences?.map(({ uid }) => uid),
      ['uid-w'],
    );
    const ran = functions.ran.map((one) => one.function).toSorted();
    assert.deepEqual(ran, ['flaky', 'flaky', 'last', 'quick']);
    const history = status?.history ?? [];
    assert.equal(history.at(-1)?.id, status?.historyCount, 'no entry is missing at the end');
  });
});

it('a stopped run ends together with the run that is its task if any requests fail', async () => {
  const functions = functionsOf();
  const options = {
    ...{ keys: ['default/r'], kinds },
    factory: (context: ControllerContext) =>
      workflowRunController({ placedCalls: functions.calls() })(context),
  };
  await atEachRequest(options, async (world) => {
    functions.reset();
    const both = {
      ...{ Type: 'Parallel', End: true },
      Branches: [
        { StartAt: 'Sub', States: { Sub: { Type: 'Task', Resource: 'workflow:w', End: true } } },
        call('hangs'),
      ],
    };
    world.server.put(workflowResource, workflow({ StartAt: 'Both', States: { Both: both } }));
    world.server.put(workflowRunResource, run('r'));
    await world.settle();
    const children = () =>
      world.server.all(workflowRunResource).filter(({ spec }) => spec.parent?.uid === 'uid-r');
    const { status } = world.server.stored(workflowRunResource, 'default/r') ?? assert.fail();
    if (children().length === 0) {
      // The controller is not allowed to create the object: the task fails with this error.
      assert.deepEqual([status?.phase, status?.error], ['Failed', taskErrors.refused]);
      return;
    }
    assert.deepEqual(
      functions.ran.map((one) => one.function),
      ['hangs'],
    );
    world.server.edit(workflowRunResource, 'default/r', (one) => ({
      ...one,
      spec: { ...one.spec, stop: { cause: 'enough' } },
    }));
    await world.settle();
    const stopped = world.server.stored(workflowRunResource, 'default/r') ?? assert.fail();
    assert.ok(hasEnded(stopped));
    assert.deepEqual([stopped.status?.phase, stopped.status?.cause], ['Aborted', 'enough']);
    assert.deepEqual(
      children().map(({ spec, metadata }) => [spec.stop !== undefined, metadata.finalizers ?? []]),
      [[true, []]],
    );
  });
});
