/** Pods of function instances, both assigned and waiting ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import {
  instanceOf,
  waitingInstance,
} from '../../../../../src/features/functions/controller/instance-plan.ts';
import { meta } from '../../../controllers/objects.ts';

const version = (more: object = {}) =>
  ({
    metadata: meta('f-1'),
    spec: {
      ...{ function: 'f', runtime: 'python', handler: 'main.handler', image: 'i', timeoutSeconds: 30 },
      ...{ concurrency: 1, ...more },
    },
  }) as unknown as FunctionVersion;
const fn = { metadata: meta('f') } as Fn;

it("an instance has no service account token, which would give its callers the account's rights", () => {
  for (const pod of [instanceOf(fn, version()), waitingInstance(version(), ['n1'])])
    assert.equal(pod.spec.automountServiceAccountToken, false);
});

describe('the pod of an instance', () => {
  const resources = { limits: { cpu: '1' } };
  const pod = instanceOf(fn, version({ resources, env: [{ name: 'A', value: '1' }] }));
  const { env = [], ...rest } = pod.spec.containers[0] ?? assert.fail();

  it('has no resources if its version has none', () =>
    assert.deepEqual(instanceOf(fn, version()).spec.containers[0]?.resources, {}));
  it('has the labels of its function and of its version', () => {
    const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name: 'f', uid: 'uid-f' };
    assert.deepEqual(
      { ...pod, spec: undefined },
      {
        ...{ apiVersion: 'v1', kind: 'Pod', spec: undefined },
        metadata: {
          ...{ generateName: 'f-1-', namespace: 'default' },
          labels: { 'minik8s.io/function': 'f', 'minik8s.io/function-version': 'f-1' },
          ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        },
      },
    );
  });
  it('has the call timeout plus 5 s as its grace period, and ten minutes to start listening', () => {
    assert.equal(pod.spec.terminationGracePeriodSeconds, 35);
    assert.equal(pod.spec.enableServiceLinks, false);
    assert.equal(pod.spec.restartPolicy, undefined, 'it is started again where it ends');
    assert.deepEqual(rest, {
      ...{ name: 'function', image: 'i', imagePullPolicy: 'IfNotPresent', resources },
      ports: [{ name: 'http', containerPort: 8080 }],
      terminationMessagePolicy: 'FallbackToLogsOnError',
      startupProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 600 },
    });
    assert.ok(env.some(({ name, value }) => name === 'A' && value === '1'));
    assert.ok(env.some(({ name, value }) => name === 'PORT' && value === '8080'));
  });
});

describe('the pod of an instance that waits', () => {
  const one = (runtime: string) => waitingInstance(version({ runtime }), ['n1', 'n2']);

  it('is not assigned to a function yet, and is not restarted', () => {
    assert.deepEqual(one('python').metadata, {
      ...{ generateName: 'f-1-', namespace: 'default' },
      labels: { 'minik8s.io/warm': 'python', 'minik8s.io/function-version': 'f-1' },
    });
    assert.equal(one('python').spec.restartPolicy, 'Never');
  });
  it('may run only on the nodes that have room', () =>
    assert.deepEqual(
      one('python').spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
      {
        nodeSelectorTerms: [
          {
            matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1', 'n2'] }],
          },
        ],
      },
    ));
  it('requests the memory of its runtime, and may wait for any time', () => {
    const memories = ['python', 'nodejs'].map(
      (runtime) => one(runtime).spec.containers[0]?.resources?.requests?.memory,
    );
    assert.deepEqual(memories, ['32Mi', '64Mi']);
    const { env, startupProbe } = one('nodejs').spec.containers[0] ?? assert.fail();
    assert.deepEqual(startupProbe, {
      ...{ tcpSocket: { port: 8080 }, periodSeconds: 5, failureThreshold: 2_147_483_647 },
    });
    assert.deepEqual(env, [
      { name: 'PORT', value: '8080' },
      { name: 'FUNCTION_WAITS', value: 'true' },
    ]);
  });
});

it('the program of a function is process 1 only if the function has a custom image', () => {
  const shares = (program: object) => instanceOf(fn, version(program)).spec.shareProcessNamespace;
  assert.equal(shares({ runtime: 'nodejs' }), true);
  assert.equal(waitingInstance(version(), ['n1']).spec.shareProcessNamespace, true);
  assert.equal(shares({ runtime: undefined }), undefined);
});
