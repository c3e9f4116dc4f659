/** Messages about rollouts, at each bound (k8s.io/kubectl polymorphichelpers rollout_status). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { revisionAnnotation } from '../../../src/views/revisions.ts';
import { rolloutState } from '../../../src/views/rollout-state.ts';

const rolling = { updateStrategy: { type: 'RollingUpdate' } };
const at = (partition: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
});
const workload = (kind: string, spec: object, status: object, annotations?: object) => ({
  kind,
  metadata: { name: 'w', generation: 2, annotations },
  spec,
  status: { observedGeneration: 2, ...status },
});
const notRolling = 'rollout status is only available for RollingUpdate strategy type, not';

describe('a StatefulSet', () => {
  const set = (status: object, spec: object = rolling) =>
    workload('StatefulSet', { replicas: 3, ...spec }, status);
  const ready = { readyReplicas: 3, updatedReplicas: 3, currentReplicas: 3 };
  const [same, other] = [
    { currentRevision: 'w-2', updateRevision: 'w-2' },
    { currentRevision: 'w-1', updateRevision: 'w-2' },
  ];
  for (const [status, spec, outcome, message] of [
    [ready, { updateStrategy: { type: 'OnDelete' } }, 'failed', `${notRolling} OnDelete`],
    [ready, { updateStrategy: {} }, 'failed', `${notRolling} none`],
    [{ observedGeneration: 0 }, rolling, 'waiting', 'Waiting for statefulset spec update to be observed...'],
    [{ observedGeneration: 1 }, rolling, 'waiting', 'Waiting for statefulset spec update to be observed...'],
    [{ readyReplicas: 1 }, rolling, 'waiting', 'Waiting for 2 pods to be ready...'],
    [
      { ...ready, ...other, updatedReplicas: 1 },
      rolling,
      'waiting',
      'waiting for statefulset rolling update to complete 1 pods at revision w-2...',
    ],
    [{ ...ready, ...same }, rolling, 'done', 'statefulset rolling update complete 3 pods at revision w-2...'],
    [{ ...ready, ...same }, at(0), 'done', 'statefulset rolling update complete 3 pods at revision w-2...'],
    [
      { ...ready, ...other, updatedReplicas: 1 },
      at(1),
      'waiting',
      'Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...',
    ],
    [
      { ...ready, ...other, updatedReplicas: 2 },
      at(1),
      'done',
      'partitioned roll out complete: 2 new pods have been updated...',
    ],
  ] as const)
    it(`has the rollout state ${outcome}: ${message} (${JSON.stringify(spec)}, ${JSON.stringify(status)})`, () => {
      assert.deepEqual(rolloutState(set(status, spec)), { message, outcome });
    });

  it('without an observed generation waits to be observed', () => {
    const unseen = { ...set({}), metadata: { name: 'w' }, status: {} };
    assert.equal(rolloutState(unseen).message, 'Waiting for statefulset spec update to be observed...');
  });

  it('without spec.replicas has one pod', () => {
    for (const [readyReplicas, outcome] of [
      [0, 'waiting'],
      [1, 'done'],
    ] as const)
      assert.equal(rolloutState(workload('StatefulSet', rolling, { readyReplicas })).outcome, outcome);
  });
});

describe('a DaemonSet', () => {
  const finishing = 'Waiting for daemon set "w" rollout to finish:';
  const wanted = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
  for (const [status, spec, outcome, message] of [
    [wanted, { updateStrategy: { type: 'OnDelete' } }, 'failed', `${notRolling} OnDelete`],
    [
      { ...wanted, observedGeneration: 1 },
      rolling,
      'waiting',
      'Waiting for daemon set spec update to be observed...',
    ],
    [
      { ...wanted, updatedNumberScheduled: 1 },
      rolling,
      'waiting',
      `${finishing} 1 out of 2 new pods have been updated...`,
    ],
    [
      { ...wanted, numberAvailable: 1 },
      rolling,
      'waiting',
      `${finishing} 1 of 2 updated pods are available...`,
    ],
    [wanted, rolling, 'done', 'daemon set "w" successfully rolled out'],
  ] as const)
    it(`has the rollout state ${outcome}: ${message}`, () => {
      assert.deepEqual(rolloutState(workload('DaemonSet', spec, status)), { message, outcome });
    });
});

describe('a Deployment', () => {
  const done = { updatedReplicas: 1, replicas: 1, availableReplicas: 1 };
  const of = (revision: bigint, annotations?: object) =>
    rolloutState(workload('Deployment', {}, done, annotations), revision);

  it('is done only at the requested revision, if one is requested', () => {
    const success = { message: 'deployment "w" successfully rolled out', outcome: 'done' };
    assert.deepEqual(of(0n, { [revisionAnnotation]: '3' }), success);
    assert.deepEqual(of(3n, { [revisionAnnotation]: '3' }), success);
    for (const [annotations, running] of [
      [{ [revisionAnnotation]: '4' }, 4],
      [{ [revisionAnnotation]: 'x' }, 0],
      [undefined, 0],
    ] as const)
      assert.deepEqual(of(3n, annotations), {
        message: `desired revision (3) is different from the running revision (${running})`,
        outcome: 'failed',
      });
  });

  it('without spec.replicas has one pod', () => {
    const state = rolloutState(workload('Deployment', {}, { ...done, updatedReplicas: 0 }));
    assert.match(state.message, /0 out of 1 new replicas/);
  });
});

describe('the rollout state', () => {
  for (const [kind, said] of [
    ['toString', 'toString'],
    [['Deployment'], 'Deployment'],
    [undefined, 'undefined'],
  ] as const)
    it(`is an error for ${JSON.stringify(kind)}, which has no rollouts`, () => {
      assert.throws(() => rolloutState({ kind }), {
        message: `no status viewer has been implemented for ${said}`,
      });
    });
});
