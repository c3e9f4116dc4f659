/** A run controller between a cache, a server and functions that a test answers. */
import assert from 'node:assert/strict';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import type { ResourceRef } from '../../../../../src/apimachinery/resource-definition.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { workflowRights } from '../../../../../src/features/workflows/controller/workflow.ts';
import {
  workflowRunController,
  workflowRunRights,
} from '../../../../../src/features/workflows/controller/workflow-run.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../../fixtures/fake-functions.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

export const key = 'default/r';
export const kinds: readonly ResourceRef[] = [
  workflowResource,
  controllerRevisionResource,
  jobResource,
  workflowRunResource,
];
export const call = (name: string, more: object = { End: true }) => ({
  ...{ Type: 'Task', Resource: `function:${name}` },
  ...more,
});
export const single = (state: object) => ({ StartAt: 'A', States: { A: state } });
export const pass = single({ Type: 'Pass', Result: { done: true }, End: true });
export const workflow = (definition: object, over: object = {}, spec: object = {}): Workflow =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: meta('w', over) },
    spec: { definition, serviceAccountName: 'robot', public: false, runsHistoryLimit: 10, ...spec },
  }) as unknown as Workflow;
export const run = (name = 'r', spec: object = {}, over: object = {}): WorkflowRun =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: meta(name, over) },
    spec: { workflow: 'w', ...spec },
  }) as unknown as WorkflowRun;

export function world(definition?: object, spec: object = {}) {
  const functions = new FakeFunctions(new FakeClock());
  functions.handle = ({ function: name, input }) =>
    name === 'hangs' ? 'never' : name === 'absent' ? undefined : { output: { name, input } };
  const server = new ScriptedWorld(
    (context) => workflowRunController({ placedCalls: functions.calls() })(context),
    0,
    [workflowRights, workflowRunRights],
  );
  const { enqueued } = server;
  if (definition) server.put(workflowResource, workflow(definition, {}, spec));
  /** Reconciles with an up-to-date cache until the controller makes no more requests. */
  const settle = async (...keys: string[]) => {
    for (let quiet = 0, before = -1; quiet < 2; before = server.asked.length) {
      quiet = before === server.asked.length ? quiet + 1 : 0;
      for (const one of keys.length > 0 ? keys : [key]) await server.reconcile(one);
      await server.clock.settle();
      for (const kind of kinds) server.sync(kind);
    }
  };
  const stored = (of = key) =>
    server.stored<WorkflowRun>(workflowRunResource, of) ?? assert.fail('it is gone');
  return { server, functions, enqueued, settle, stored };
}
