import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutState } from '../../../src/views/rollout-state.ts';

const deployment = (status: object, replicas: number | undefined = 3) => ({
  kind: 'Deployment',
  metadata: { name: 'web', generation: 2 },
  spec: { ...(replicas !== undefined && { replicas }) },
  status,
});
const finishing = 'Waiting for deployment "web" rollout to finish:';
const failed = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };

const cases: [object: object, outcome: string, message: string][] = [
  [deployment({}), 'waiting', 'Waiting for deployment spec update to be observed...'],
  [
    deployment({ observedGeneration: 1, updatedReplicas: 3 }),
    'waiting',
    'Waiting for deployment spec update to be observed...',
  ],
  [
    deployment({ observedGeneration: 2, updatedReplicas: 1 }),
    'waiting',
    `${finishing} 1 out of 3 new replicas have been updated...`,
  ],
  [
    deployment({ observedGeneration: 2, updatedReplicas: 3, replicas: 5, availableReplicas: 5 }),
    'waiting',
    `${finishing} 2 old replicas are pending termination...`,
  ],
  [
    deployment({ observedGeneration: 2, updatedReplicas: 3, replicas: 3, availableReplicas: 1 }),
    'waiting',
    `${finishing} 1 of 3 updated replicas are available...`,
  ],
  [
    deployment({ observedGeneration: 2, updatedReplicas: 3, replicas: 3, availableReplicas: 3 }),
    'done',
    'deployment "web" successfully rolled out',
  ],
  [deployment({ observedGeneration: 2 }, 0), 'done', 'deployment "web" successfully rolled out'],
  [
    deployment({ observedGeneration: 2, conditions: [failed] }),
    'failed',
    'deployment "web" exceeded its progress deadline',
  ],
  [
    {
      kind: 'DaemonSet',
      metadata: { name: 'd', generation: 1 },
      spec: { updateStrategy: { type: 'RollingUpdate' } },
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    'waiting',
    'Waiting for daemon set "d" rollout to finish: 1 of 2 updated pods are available...',
  ],
  [
    {
      kind: 'StatefulSet',
      metadata: { name: 's', generation: 1 },
      spec: { replicas: 2, updateStrategy: { type: 'RollingUpdate' } },
      status: { observedGeneration: 1, readyReplicas: 1 },
    },
    'waiting',
    'Waiting for 1 pods to be ready...',
  ],
];
for (const [object, outcome, message] of cases) {
  test(`the rollout status is ${outcome}: ${message}`, () => {
    assert.deepEqual(rolloutState({ ...object }), { message, outcome });
  });
}

test('kinds without rollouts are rejected', () => {
  assert.throws(() => rolloutState({ kind: 'Pod' }), /no status viewer has been implemented for Pod/);
});
