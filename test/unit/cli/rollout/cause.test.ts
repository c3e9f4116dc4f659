import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { type Rollout, rolloutCause, standstillCause } from '../../../../src/cli/rollout/cause.ts';

import { RuleBook } from '../../../../src/why/rule-book.ts';
import { rules } from '../../../../src/why/rules/index.ts';

const book = new RuleBook(rules);
const pod = (name: string, status: JsonObject, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  metadata: { name, creationTimestamp },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'shop:1' }] },
  status,
});
const pending = (name: string) => ({ ...pod(name, unscheduled), spec: {} });
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

const rolloutOf = (workload: JsonObject, pods: readonly JsonObject[]): Rollout => ({
  workload,
  pods,
  nowMs: Date.parse('2026-01-03T00:00:00Z'),
});

for (const [what, workload, pods, cause] of [
  ['the quota that refuses pods', refused, [pod('a', unready)], 'its pods are refused: quota'],
  [
    'a pod without a node, before an older one whose image cannot be pulled',
    {},
    [pod('a', waits('ErrImagePull'), '2025-01-01T00:00:00Z'), pending('b')],
    'pod/b: it is not scheduled: 0/1 nodes',
  ],
  [
    'an image that cannot be pulled',
    {},
    [pod('a', waits('ErrImagePull'))],
    'pod/a: the image shop:1 cannot be pulled (container c: ErrImagePull: why so)',
  ],
  [
    'how a container ended that is restarted',
    {},
    [pod('a', waits('CrashLoopBackOff', ended))],
    /^pod\/a: container c ends with exit code 3 .*restarts: 0\)$/,
  ],
  [
    'a container that starts',
    {},
    [pod('a', { ...waits('ContainerCreating'), ...unready })],
    'pod/a: container c is being started',
  ],
  [
    'the pod of the new version before one of the old',
    {},
    [pod('old', waits('ErrImagePull')), pod('new', waits('ErrImagePull'), '2026-01-02T00:00:00Z')],
    /^pod\/new: the image shop:1 cannot be pulled/,
  ],
  ['nothing without pods', {}, [], undefined],
] as readonly [string, JsonObject, JsonObject[], string | RegExp | undefined][])
  test(`the first cause of a rollout without progress is ${what}`, () => {
    const found = rolloutCause(rolloutOf(workload, pods), book);
    if (cause instanceof RegExp) assert.match(found ?? '', cause);
    else assert.equal(found, cause);
  });

test('a pod that only is not ready yet is no cause of a rollout that stands still', () => {
  const starts = pod('a', { ...waits('ContainerCreating'), ...unready });
  assert.equal(standstillCause(rolloutOf({}, [starts]), book), undefined);
  assert.match(standstillCause(rolloutOf({}, [starts, pending('b')]), book) ?? '', /^pod\/b: /);
});
