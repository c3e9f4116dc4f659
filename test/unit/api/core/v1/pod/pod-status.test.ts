import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as conditions from '../../../../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { cells, decode, merge } from '../../../../../fixtures/kinds.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const before = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const base = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', creationTimestamp: before(300) },
  spec: { containers: [{ name: 'a', image: 'x' }] },
  status: { phase: 'Running' },
};
const pod = (patch: object): Pod => decode(podResource, merge(base, patch));

const container = (name: string, fields: object) => ({
  name,
  image: 'x',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...fields,
});
const running = { ready: true, state: { running: { startedAt: before(200) } } };
const ended = (terminated: object) => ({ state: { terminated: { exitCode: 1, ...terminated } } });
const waiting = (reason: string) => ({ state: { waiting: { reason } } });
const died = (seconds: number) => ({
  lastState: { terminated: { exitCode: 1, finishedAt: before(seconds) } },
});
const two = {
  spec: {
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'x' },
    ],
  },
};
const condition = (type: string, status: string, more: object = {}) => ({ type, status, ...more });
const inits = (...names: string[]) => ({
  spec: { initContainers: names.map((name) => ({ name, image: 'x' })) },
});
const sidecar = { spec: { initContainers: [{ name: 's', image: 'x', restartPolicy: 'Always' }] } };
const initialized = [condition('Initialized', 'True')];

/** Title, [ready, status, restarts], and the patches that are merged into the pod in order. */
const ladder: readonly (readonly [string, readonly [string, string, string], ...object[]])[] = [
  ['phase', ['0/1', 'Pending', '0'], { status: { phase: 'Pending' } }],
  ['the reason in the status', ['0/1', 'Evicted', '0'], { status: { phase: 'Failed', reason: 'Evicted' } }],
  [
    'scheduling gate',
    ['0/1', 'SchedulingGated', '0'],
    {
      status: {
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })],
      },
    },
  ],
  ['running', ['1/1', 'Running', '0'], { status: { containerStatuses: [container('a', running)] } }],
  [
    'waiting',
    ['0/1', 'ContainerCreating', '0'],
    { status: { phase: 'Pending', containerStatuses: [container('a', waiting('ContainerCreating'))] } },
  ],
  [
    'crash loop',
    ['0/1', 'CrashLoopBackOff', '3 (5m ago)'],
    {
      status: {
        containerStatuses: [
          container('a', { ...waiting('CrashLoopBackOff'), restartCount: 3, ...died(300) }),
        ],
      },
    },
  ],
  [
    'restarts without the time of the last one',
    ['1/1', 'Running', '2'],
    { status: { containerStatuses: [container('a', { ...running, restartCount: 2 })] } },
  ],
  [
    'newest restart of two containers',
    ['2/2', 'Running', '3 (60s ago)'],
    two,
    {
      status: {
        containerStatuses: [
          container('a', { ...running, restartCount: 1, ...died(60) }),
          container('b', { ...running, restartCount: 2, ...died(90) }),
        ],
      },
    },
  ],
  [
    'a container that ended with a reason',
    ['0/1', 'Error', '0'],
    { status: { phase: 'Failed', containerStatuses: [container('a', ended({ reason: 'Error' }))] } },
  ],
  [
    'a container that ended by a signal',
    ['0/1', 'Signal:9', '0'],
    { status: { containerStatuses: [container('a', ended({ signal: 9 }))] } },
  ],
  [
    'a container that ended with an exit code',
    ['0/1', 'ExitCode:1', '0'],
    { status: { containerStatuses: [container('a', ended({}))] } },
  ],
  [
    'the first container with a reason',
    ['0/2', 'ErrImagePull', '0'],
    two,
    { status: { containerStatuses: [container('a', waiting('ErrImagePull')), container('b', ended({}))] } },
  ],
  [
    'one container completed, one ready',
    ['1/2', 'Running', '0'],
    two,
    {
      status: {
        conditions: [condition('Ready', 'True')],
        containerStatuses: [
          container('a', ended({ exitCode: 0, reason: 'Completed' })),
          container('b', running),
        ],
      },
    },
  ],
  [
    'one container completed, one running in a pod that is not ready',
    ['1/2', 'NotReady', '0'],
    two,
    {
      status: {
        containerStatuses: [
          container('a', ended({ exitCode: 0, reason: 'Completed' })),
          container('b', running),
        ],
      },
    },
  ],
  [
    'done',
    ['0/1', 'Completed', '0'],
    {
      status: {
        phase: 'Succeeded',
        containerStatuses: [container('a', ended({ exitCode: 0, reason: 'Completed' }))],
      },
    },
  ],
  [
    'a pod under deletion',
    ['1/1', 'Terminating', '0'],
    { metadata: { deletionTimestamp: before(1) }, status: { containerStatuses: [container('a', running)] } },
  ],
  [
    'a pod under deletion on a lost node',
    ['0/1', 'Unknown', '0'],
    { metadata: { deletionTimestamp: before(1) }, status: { reason: 'NodeLost' } },
  ],
  [
    'a completed pod under deletion',
    ['0/1', 'Succeeded', '0'],
    { metadata: { deletionTimestamp: before(1) }, status: { phase: 'Succeeded' } },
  ],
  [
    'second of two init containers',
    ['0/1', 'Init:1/2', '0'],
    inits('i', 'j'),
    { status: { initContainerStatuses: [container('i', ended({ exitCode: 0 })), container('j', running)] } },
  ],
  [
    'an init container that cannot start',
    ['0/1', 'Init:CrashLoopBackOff', '2 (10s ago)'],
    inits('i'),
    {
      status: {
        initContainerStatuses: [
          container('i', { ...waiting('CrashLoopBackOff'), restartCount: 2, ...died(10) }),
        ],
      },
    },
  ],
  [
    'init container that waits for its turn',
    ['0/1', 'Init:0/1', '0'],
    inits('i'),
    { status: { initContainerStatuses: [container('i', waiting('PodInitializing'))] } },
  ],
  [
    'init container ended with a reason',
    ['0/1', 'Init:Error', '0'],
    inits('i'),
    { status: { initContainerStatuses: [container('i', ended({ reason: 'Error' }))] } },
  ],
  [
    'init container ended by a signal',
    ['0/1', 'Init:Signal:9', '0'],
    inits('i'),
    { status: { initContainerStatuses: [container('i', ended({ signal: 9 }))] } },
  ],
  [
    'init container ended by a code',
    ['0/1', 'Init:ExitCode:3', '0'],
    inits('i'),
    { status: { initContainerStatuses: [container('i', ended({ exitCode: 3 }))] } },
  ],
  [
    'completed init containers, whose restarts do not count',
    ['1/1', 'Running', '1'],
    inits('i'),
    {
      status: {
        initContainerStatuses: [container('i', { ...ended({ exitCode: 0 }), restartCount: 4 })],
        containerStatuses: [container('a', { ...running, restartCount: 1 })],
      },
    },
  ],
  [
    'sidecar that runs counts as a container',
    ['2/2', 'Running', '2 (7s ago)'],
    sidecar,
    {
      status: {
        initContainerStatuses: [container('s', { ...running, started: true, restartCount: 2, ...died(7) })],
        containerStatuses: [container('a', running)],
      },
    },
  ],
  [
    'sidecar that has not started',
    ['0/2', 'Init:0/1', '0'],
    sidecar,
    { status: { initContainerStatuses: [container('s', { state: {} })] } },
  ],
  [
    'a sidecar that cannot start in an initialized pod',
    ['1/2', 'Init:CrashLoopBackOff', '0'],
    sidecar,
    {
      status: {
        conditions: initialized,
        initContainerStatuses: [container('s', waiting('CrashLoopBackOff'))],
        containerStatuses: [container('a', running)],
      },
    },
  ],
];

for (const [title, [ready, status, restarts], ...patches] of ladder) {
  test(`a pod has the status ${status}: ${title}`, () => {
    const found = cells(
      podResource,
      pod(patches.reduce<object>((all, one) => merge(all, one) as object, {})),
      now,
    );
    assert.deepEqual([found.Ready, found.Status, found.Restarts], [ready, status, restarts]);
  });
}

test('a pod has the columns of kubectl', () => {
  assert.deepEqual(cells(podResource, pod({}), now), {
    Name: 'web',
    Ready: '0/1',
    Status: 'Running',
    Restarts: '0',
    Age: '5m',
    IP: '<none>',
    Node: '<none>',
    'Nominated Node': '<none>',
    'Readiness Gates': '<none>',
  });
  const bound = pod({
    spec: { nodeName: 'n1', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    status: {
      podIPs: [{ ip: '10.244.0.5' }],
      podIP: '10.244.0.5',
      nominatedNodeName: 'n2',
      conditions: [condition('b', 'True')],
    },
  });
  const { IP, Node, ...rest } = cells(podResource, bound, now);
  assert.deepEqual(
    [IP, Node, rest['Nominated Node'], rest['Readiness Gates']],
    ['10.244.0.5', 'n1', 'n2', '1/2'],
  );
});

test('a condition is found by its type', () => {
  const ready = (status: string, seconds: number) =>
    pod({ status: { conditions: [condition('Ready', status, { lastTransitionTime: before(seconds) })] } });
  assert.equal(conditions.podReady(ready('True', 5)), true);
  assert.equal(conditions.podReady(ready('Unknown', 5)), false);
  assert.equal(conditions.podReady(pod({})), false);
  assert.equal(conditions.podAvailable(ready('True', 5), 0, now), true);
  assert.equal(conditions.podAvailable(ready('True', 5), 5, now), true);
  assert.equal(conditions.podAvailable(ready('True', 5), 6, now), false);
  assert.equal(conditions.podAvailable(ready('False', 5), 0, now), false);
  assert.equal(conditions.podAvailableIn(ready('True', 5), 8, now), 3000);
  assert.equal(conditions.podAvailableIn(ready('False', 5), 8, now), undefined);
  assert.equal(
    conditions.podAvailableIn(pod({ status: { conditions: [condition('Ready', 'True')] } }), 8, now),
    undefined,
  );
  assert.equal(conditions.isPodTerminal(pod({ status: { phase: 'Failed' } })), true);
  assert.equal(conditions.isPodTerminal(pod({})), false);
  assert.equal(conditions.isPodActive(pod({})), true);
  assert.equal(conditions.isPodActive(pod({ status: { phase: 'Succeeded' } })), false);
  assert.equal(conditions.isPodActive(pod({ metadata: { deletionTimestamp: before(1) } })), false);
});
