import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { rolloutCause } from '../../../../src/cli/rollout/cause.ts';

const pod = (name: string, status: JsonObject, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  metadata: { name, creationTimestamp },
  status,
});
const waits = (reason: string, more: JsonObject = {}) => ({
  containerStatuses: [{ name: 'c', state: { waiting: { reason, message: 'why\n  so' } }, ...more }],
});
const unready = { conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }] };
const unscheduled = {
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }],
};
const refused = {
  status: {
    conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }],
  },
};
const ended = { lastState: { terminated: { exitCode: 3, reason: 'Error' } } };

for (const [what, object, pods, cause] of [
  ['the quota that refuses pods', refused, [pod('a', unready)], 'FailedCreate: quota'],
  [
    'a pod without a node',
    {},
    [pod('a', waits('ErrImagePull')), pod('b', unscheduled)],
    'pod/b: Unschedulable: 0/1 nodes',
  ],
  [
    'an image that cannot be pulled',
    {},
    [pod('a', waits('ErrImagePull'))],
    'pod/a: container c: ErrImagePull: why so',
  ],
  [
    'how a container ended that is restarted',
    {},
    [pod('a', waits('CrashLoopBackOff', ended))],
    'pod/a: container c: CrashLoopBackOff: why so (last: exit code 3, Error)',
  ],
  [
    'a probe that fails, after containers that start',
    {},
    [pod('a', { ...waits('ContainerCreating'), ...unready })],
    'pod/a: ContainersNotReady',
  ],
  [
    'the pod of the new version before one of the old',
    {},
    [pod('old', waits('ErrImagePull')), pod('new', waits('ErrImagePull'), '2026-01-02T00:00:00Z')],
    'pod/new: container c: ErrImagePull: why so',
  ],
  ['nothing while all pods are well', {}, [pod('a', {})], undefined],
] as const)
  test(`the first cause of a rollout without progress is ${what}`, () =>
    assert.equal(rolloutCause(object, pods), cause));
