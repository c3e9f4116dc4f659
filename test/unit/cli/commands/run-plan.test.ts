import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf, isRunning, podOf, type RunRequest } from '../../../../src/cli/commands/run-plan.ts';
import { hasEnded } from '../../../../src/cli/objects/objects.ts';

const request: RunRequest = {
  name: 'x',
  image: 'a:1',
  args: [],
  isCommand: false,
  labels: undefined,
  annotations: [],
  env: [],
  port: undefined,
  restartPolicy: 'Always',
  imagePullPolicy: undefined,
  privileged: false,
  stdin: false,
  stdinOnce: false,
  tty: false,
};

test('the pod of an image alone has the label run and the usual policies', () => {
  assert.deepEqual(podOf(request), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { creationTimestamp: null, name: 'x', labels: { run: 'x' } },
    spec: {
      containers: [{ name: 'x', image: 'a:1', resources: {} }],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
    },
    status: {},
  });
});

test('an entry that is not KEY=VALUE is rejected', () => {
  for (const wrong of [{ labels: 'a' }, { env: ['=b'] }, { annotations: ['a'] }])
    assert.throws(() => podOf({ ...request, ...wrong }), { name: 'UsageError', message: /say KEY=VALUE/ });
});

const pod = (phase: string, terminated?: object) => ({
  metadata: { name: 'x', namespace: 'n' },
  status: {
    phase,
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ state: { terminated } }],
  },
});

for (const [what, object, running, completed, failure] of [
  ['that runs', pod('Running'), true, false, undefined],
  ['that has succeeded', pod('Succeeded', { exitCode: 0 }), false, true, undefined],
  [
    'that has failed',
    pod('Failed', { exitCode: 5, reason: 'Error' }),
    false,
    true,
    { code: 5, message: 'pod n/x terminated (Error)' },
  ],
  [
    'that was evicted',
    pod('Failed'),
    false,
    true,
    { code: 1, message: 'pod n/x failed with unknown exit code' },
  ],
] as const)
  test(`a pod ${what} is ${running ? 'running' : completed ? 'completed' : 'neither'}, ${failure ? 'with' : 'without'} a failure`, () => {
    assert.deepEqual([isRunning(object), hasEnded(object)], [running, completed]);
    assert.deepEqual(failureOf(object), failure);
  });
