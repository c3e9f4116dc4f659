import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { ObservedPod } from '../../../../src/kubelet/runtime/observed-pod.ts';
import { runningContainer } from '../../../../src/kubelet/server/streaming/stream-request.ts';

const pod = (restartPolicy: string) =>
  ({
    spec: { restartPolicy, containers: [{ name: 'web' }], initContainers: [{ name: 'first' }] },
  }) as unknown as Pod;
const container = (name: string, state: string, attempt: number, exitCode = 0) => ({
  id: `${name}-${attempt}`,
  name,
  state,
  attempt,
  exitCode,
});
const observed = (...containers: object[]) => ({ sandboxes: [], containers }) as unknown as ObservedPod;

test('the running container is found among earlier containers of the name', () => {
  const seen = observed(container('web', 'exited', 0, 1), container('web', 'running', 1));
  assert.equal(runningContainer(seen, 'web', pod('Always')), 'web-1');
});

for (const [title, seen, name, policy, code, message] of [
  [
    'that crashed is reported with its last exit code and as waiting to be restarted',
    [container('web', 'exited', 1, 3), container('web', 'exited', 0, 1)],
    'web',
    'Always',
    400,
    'container "web" is not running: it has ended with exit code 3 and waits to be restarted',
  ],
  [
    'that failed is reported as waiting to be restarted with OnFailure',
    [container('web', 'exited', 0, 3)],
    'web',
    'OnFailure',
    400,
    'container "web" is not running: it has ended with exit code 3 and waits to be restarted',
  ],
  [
    'that succeeded is reported as ended with OnFailure',
    [container('web', 'exited', 0)],
    'web',
    'OnFailure',
    400,
    'container "web" is not running: it has ended with exit code 0',
  ],
  [
    'that is a successful init container is reported as ended',
    [container('first', 'exited', 0)],
    'first',
    'Always',
    400,
    'container "first" is not running: it has ended with exit code 0',
  ],
  [
    'that was not created yet is reported as not started',
    [],
    'web',
    'Always',
    400,
    'container "web" is not running: it has not started yet',
  ],
  [
    'that was created and not started is reported as not started',
    [container('web', 'created', 0)],
    'web',
    'Always',
    400,
    'container "web" is not running: it has not started yet',
  ],
  ['that the pod does not have is not found', [], 'nosuch', 'Always', 404, 'container not found ("nosuch")'],
] as const) {
  test(`a container ${title}`, () => {
    assert.throws(() => runningContainer(observed(...seen), name, pod(policy)), { code, message });
  });
}
