/** The part of workflows in the API server: calls, checks of writes, and public workflows. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import type { AccessRequest } from '../../../../../src/apiserver/authorization/authorizer.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import type { RunClient } from '../../../../../src/features/workflows/server/invoke.ts';
import { workflowsServer } from '../../../../../src/features/workflows/server/workflows-server.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const cache = {
  get: (key: string) => {
    const name = ['open', 'closed'].find((one) => key === storageKey(workflowResource, 'default', one));
    return name && { object: { spec: { public: name === 'open' } } };
  },
};
const part = (runs: RunClient | undefined) =>
  workflowsServer(runs)({ cache, clock: new FakeClock() } as never);

it('a workflow is called by POST, if the server has a client of runs', () => {
  const { subresources = {} } = part({} as RunClient);
  assert.deepEqual(Object.keys(subresources), ['minik8s.io/workflows']);
  const { methods, ...rest } = subresources['minik8s.io/workflows']?.invoke ?? assert.fail();
  assert.deepEqual(Object.keys(methods), ['POST']);
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'WorkflowCall' },
    ...{ longRunning: 'call', answersBytes: true },
  });
  assert.equal('subresources' in part(undefined), false);
});

it('runs and definitions are checked when they are written', () => {
  assert.deepEqual(
    part(undefined).admission?.map(({ name }) => name),
    ['WorkflowRunParents', 'WorkflowExpressions'],
  );
});

it('anonymous users may call only public workflows', async () => {
  const [authorizer] = part(undefined).authorizers ?? [];
  const may = (name: string, resource = 'workflows/invoke', verb = 'create') =>
    authorizer?.({
      type: 'resource',
      group: 'minik8s.io',
      namespace: 'default',
      resource,
      verb,
      name,
    } as AccessRequest);
  assert.deepEqual(
    [await may('open'), await may('closed'), await may('gone'), await may('open', 'workflows')],
    [true, false, false, false],
  );
});
