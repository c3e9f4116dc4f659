/** A cluster with workflows, whose functions the tests answer. */
import { after, before, beforeEach } from 'node:test';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Json } from '../../../../../src/states-language/json.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions, type Handled, type Handling } from '../../../../fixtures/fake-functions.ts';
import { type Cluster, startCluster } from '../../../controllers/cluster.ts';

export let cluster: Cluster;

export let functions: FakeFunctions;

export const task = (resource: string, more: object = {}) => ({
  Type: 'Task',
  Resource: resource,
  End: true,
  ...more,
});

export const single = (state: object, name = 'A') => ({ StartAt: name, States: { [name]: state } });

let made = 0;

export async function workflow(definition: object, spec: Partial<Workflow['spec']> = {}): Promise<string> {
  const name = `w${made++}`;
  await cluster.client.resource(workflowResource).create({
    apiVersion: 'minik8s.io/v1',
    kind: 'Workflow',
    metadata: { name, namespace: 'default' },
    spec: { definition, public: false, serviceAccountName: 'default', runsHistoryLimit: 100, ...spec },
  });
  return name;
}

export async function begin(of: string, input?: Json, name = `${of}-r${made++}`): Promise<string> {
  await cluster.client.resource(workflowRunResource).create({
    apiVersion: 'minik8s.io/v1',
    kind: 'WorkflowRun',
    metadata: { name, namespace: 'default' },
    spec: { workflow: of, ...(input !== undefined && { input }) },
  });
  return name;
}

export const get = (name: string) => cluster.get(workflowRunResource, name);

export async function ended(name: string, within = 60_000): Promise<NonNullable<WorkflowRun['status']>> {
  const run = await cluster.eventually(
    `run ${name} has ended`,
    async () => {
      const found = await get(name);
      return found && hasEnded(found) && found;
    },
    within,
  );
  return run.status ?? {};
}

export async function run(definition: object, input?: Json) {
  return ended(await begin(await workflow(definition), input));
}

export const handle = (handlers: Readonly<Record<string, (call: Handled) => Handling>>) => {
  functions.handle = (call) => handlers[call.function]?.(call);
};

/** Starts the cluster before the tests of a file, and stops it after them. */
export function startWorkflowCluster(): void {
  before(async () => {
    const clock = new FakeClock();
    functions = new FakeFunctions(clock);
    cluster = await startCluster({ clock, placedCalls: functions.calls() });
  });
  after(() => cluster.stop());
  beforeEach(() => {
    functions.ran.length = 0;
    functions.isFull = false;
  });
}
