/** Status of a Deployment. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import {
  type DeploymentStatus,
  deadlineIn,
  isComplete,
  planStatus,
} from '../../../../../src/controllers/workloads/deployments/deployment-status.ts';
import { at, deployment, replicaSet, start } from '../../objects.ts';

const seconds = 1000;
const now = start + 100 * seconds;
type SetStatus = NonNullable<ReplicaSet['status']>;
type Conditions = NonNullable<DeploymentStatus['conditions']>;

const set = (name: string, size: number, status?: Partial<SetStatus>): ReplicaSet =>
  replicaSet(name, size, { status: status && { replicas: size, ...status } });
const full = (name: string, size: number) =>
  set(name, size, { readyReplicas: size, availableReplicas: size });
const withStatus = (one: Deployment, status: Partial<DeploymentStatus>): Deployment => ({ ...one, status });
const conditionOf = (status: DeploymentStatus, type: string) =>
  status.conditions?.find((one) => one.type === type);
const progressing = (
  reason: string,
  status: 'True' | 'False' | 'Unknown' = 'True',
  since = 10,
): Conditions => [
  { type: 'Progressing', status, reason, lastUpdateTime: at(since), lastTransitionTime: at(since) },
];

describe('the numbers', () => {
  const numbersOf = (...args: Parameters<typeof planStatus>) => {
    const { conditions: _conditions, ...numbers } = planStatus(...args);
    return numbers;
  };

  it('are of all its ReplicaSets, and of the newest', () => {
    const fresh = set('new', 3, { replicas: 2, readyReplicas: 2, availableReplicas: 1 });
    const old = set('old', 4, { readyReplicas: 3, availableReplicas: 2 });
    assert.deepEqual(numbersOf(deployment(5), fresh, [old], undefined, now), {
      observedGeneration: 1,
      replicas: 6,
      updatedReplicas: 2,
      readyReplicas: 5,
      availableReplicas: 3,
      unavailableReplicas: 4,
    });
  });

  it('are 0 if a ReplicaSet has no status, and never negative', () => {
    const none = {
      observedGeneration: 1,
      replicas: 0,
      updatedReplicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
    };
    assert.deepEqual(numbersOf(deployment(5), undefined, [], undefined, now), {
      ...none,
      unavailableReplicas: 0,
    });
    assert.deepEqual(numbersOf(deployment(5), set('new', 5), [], undefined, now), {
      ...none,
      unavailableReplicas: 5,
    });
    const shrinking = set('old', 1, { replicas: 3, availableReplicas: 3 });
    assert.equal(planStatus(deployment(5), undefined, [shrinking], undefined, now).unavailableReplicas, 0);
  });

  it('keep the collision count, by which its ReplicaSet is named', () => {
    const one = withStatus(deployment(1), { collisionCount: 2 });
    assert.equal(planStatus(one, undefined, [], undefined, now).collisionCount, 2);
  });
});

describe('the condition Available', () => {
  it('states whether enough pods are available, with a message and a transition time', () => {
    const times = { lastUpdateTime: at(100), lastTransitionTime: at(100) };
    const available = (count: number) =>
      conditionOf(
        planStatus(deployment(4), set('new', 4, { availableReplicas: count }), [], undefined, now),
        'Available',
      );
    assert.deepEqual(available(3), {
      type: 'Available',
      status: 'True',
      reason: 'MinimumReplicasAvailable',
      message: 'Deployment has minimum availability.',
      ...times,
    });
    assert.deepEqual(available(2), {
      type: 'Available',
      status: 'False',
      reason: 'MinimumReplicasUnavailable',
      message: 'Deployment does not have minimum availability.',
      ...times,
    });
  });
});

describe('the condition ReplicaFailure', () => {
  const failing = (name: string) => ({
    ...set(name, 1),
    status: {
      replicas: 0,
      conditions: [
        { type: 'Other', status: 'True' as const },
        {
          type: 'ReplicaFailure',
          status: 'True' as const,
          reason: 'FailedCreate',
          message: 'quota',
          lastTransitionTime: at(1),
        },
      ],
    },
  });
  const expected = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'quota',
    lastUpdateTime: at(100),
    lastTransitionTime: at(100),
  };

  it('is the condition of one of its ReplicaSets, the newest or another', () => {
    const one = deployment(1);
    assert.deepEqual(
      conditionOf(planStatus(one, failing('new'), [], undefined, now), 'ReplicaFailure'),
      expected,
    );
    const status = planStatus(one, full('new', 1), [full('older', 0), failing('old')], undefined, now);
    assert.deepEqual(conditionOf(status, 'ReplicaFailure'), expected);
  });

  it('is removed when no ReplicaSet has it', () => {
    const failed = planStatus(deployment(1), failing('new'), [], undefined, now);
    const over = planStatus(withStatus(deployment(1), failed), full('new', 1), [], undefined, now);
    assert.equal(conditionOf(over, 'ReplicaFailure'), undefined);
    assert.equal(conditionOf(over, 'Available')?.status, 'True');
  });
});

describe('a rollout is complete', () => {
  const complete = { updatedReplicas: 2, replicas: 2, availableReplicas: 2 };
  for (const [title, over, expected] of [
    ['with all pods of the newest ReplicaSet available', {}, true],
    ['not with one pod of the newest ReplicaSet missing', { updatedReplicas: 1 }, false],
    ['not with a pod of another ReplicaSet', { replicas: 3 }, false],
    ['not with an unavailable pod', { availableReplicas: 1 }, false],
  ] as const)
    it(title, () => assert.equal(isComplete(deployment(2), { ...complete, ...over }), expected));
});

describe('the deadline', () => {
  const of = (reason: string): DeploymentStatus => ({ replicas: 0, conditions: progressing(reason) });
  const running = of('ReplicaSetUpdated');
  const within = (limit: number, spec = {}) => deployment(2, { progressDeadlineSeconds: limit, ...spec });
  const table: [string, Deployment, DeploymentStatus, number | undefined][] = [
    ['counts from the last progress', within(200), running, (10 + 200 - 100 + 1) * seconds],
    ['may have passed', within(60), running, seconds],
    ['is absent if it has the maximum value, which means none', within(2147483647), running, undefined],
    [
      'counts with the largest value below the maximum',
      within(2147483646),
      running,
      (10 + 2147483646 - 100 + 1) * seconds,
    ],
    ['does not run while it is paused', within(200, { paused: true }), running, undefined],
    ['does not run before the first progress', within(200), { replicas: 0 }, undefined],
    [
      'does not run without the time of the last progress',
      within(200),
      { conditions: [{ type: 'Progressing', status: 'True' }] },
      undefined,
    ],
    ['does not run after the end', within(200), of('NewReplicaSetAvailable'), undefined],
    ['does not run after the deadline', within(200), of('ProgressDeadlineExceeded'), undefined],
    [
      'does not run when the rollout is complete',
      within(200),
      { ...running, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
      undefined,
    ],
  ];
  for (const [title, one, status, expected] of table)
    it(title, () => assert.equal(deadlineIn(one, status, now), expected));
});

describe('the condition Progressing', () => {
  const fresh = set('new', 4, { replicas: 2, readyReplicas: 1, availableReplicas: 1 });
  const old = set('old', 2, { readyReplicas: 2, availableReplicas: 2 });
  const counted = { replicas: 4, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3 };
  const said = (
    before: Partial<DeploymentStatus>,
    {
      spec = {},
      newSet = fresh,
      others = [old],
      created,
      at: time = now,
    }: {
      spec?: Partial<Deployment['spec']>;
      newSet?: ReplicaSet | undefined;
      others?: readonly ReplicaSet[];
      created?: string;
      at?: number;
    } = {},
  ) =>
    conditionOf(
      planStatus(withStatus(deployment(4, spec), before), newSet, others, created, time),
      'Progressing',
    );
  const reason = (...args: Parameters<typeof said>) => {
    const found = said(...args);
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  };
  const going = { ...counted, conditions: progressing('ReplicaSetUpdated') };

  it('is absent without a deadline, and is removed with the deadline', () => {
    assert.equal(said(going, { spec: { progressDeadlineSeconds: 2147483647 } }), undefined);
  });

  it('names the ReplicaSet that was created or found', () => {
    assert.equal(
      reason(going, { created: 'web-1' }),
      'True NewReplicaSetCreated: Created new replica set "web-1"',
    );
    assert.equal(reason({}), 'True FoundNewReplicaSet: Found new replica set "new"');
    assert.deepEqual([said({})?.lastUpdateTime, said({})?.lastTransitionTime], [at(100), at(100)]);
  });

  it('has the reasons paused and resumed, but not after a failure', () => {
    const paused = { spec: { paused: true } };
    assert.equal(reason(going, paused), 'Unknown DeploymentPaused: Deployment is paused');
    const before = { ...counted, conditions: progressing('DeploymentPaused', 'Unknown') };
    assert.equal(reason(before), 'Unknown DeploymentResumed: Deployment is resumed');
    const failed = { ...counted, conditions: progressing('ProgressDeadlineExceeded', 'False') };
    assert.deepEqual(said(failed, paused), failed.conditions[0]);
    const still = { ...counted, conditions: progressing('DeploymentPaused', 'Unknown') };
    assert.deepEqual(said(still, paused), still.conditions[0], 'it is said once');
  });

  for (const [title, before] of [
    ['more pods are of the newest ReplicaSet', { replicas: 3, updatedReplicas: 1 }],
    ['fewer pods are of other ReplicaSets', { replicas: 5 }],
    ['more pods are ready', { readyReplicas: 2 }],
    ['more pods are available', { availableReplicas: 2 }],
    [
      'there was no status before',
      {
        replicas: undefined,
        updatedReplicas: undefined,
        readyReplicas: undefined,
        availableReplicas: undefined,
      },
    ],
  ] as const)
    it(`is updated when ${title}`, () => {
      assert.deepEqual(said({ ...going, ...before }), {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message: 'ReplicaSet "new" is progressing.',
        lastUpdateTime: at(100),
        lastTransitionTime: at(10),
      });
    });

  it('is updated without changes to the other conditions', () => {
    const before = {
      ...going,
      readyReplicas: 2,
      conditions: [{ type: 'Other', status: 'True' as const }, ...going.conditions],
    };
    const { conditions } = planStatus(withStatus(deployment(4), before), fresh, [old], undefined, now);
    assert.deepEqual(
      conditions?.map(({ type }) => type),
      ['Other', 'Progressing', 'Available'],
    );
  });

  for (const [title, before] of [
    ['nothing changes', {}],
    ['fewer pods are of the newest ReplicaSet', { replicas: 5, updatedReplicas: 3 }],
    ['fewer pods are ready', { readyReplicas: 4 }],
    ['fewer pods are available', { availableReplicas: 4 }],
  ] as const)
    it(`is unchanged when ${title}`, () =>
      assert.deepEqual(said({ ...going, ...before }), going.conditions[0]));

  it('has the time of the step if it is updated after a failure', () => {
    const failed = {
      ...counted,
      readyReplicas: 0,
      conditions: progressing('ProgressDeadlineExceeded', 'False'),
    };
    const next = said(failed);
    assert.deepEqual(
      [next?.status, next?.reason, next?.lastTransitionTime],
      ['True', 'ReplicaSetUpdated', at(100)],
    );
  });

  it('names the ReplicaSet that succeeded, once', () => {
    const done = { newSet: full('new', 4), others: [] };
    assert.equal(
      reason(going, done),
      'True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.',
    );
    const settled = { ...counted, conditions: progressing('NewReplicaSetAvailable') };
    assert.deepEqual(said(settled, done), settled.conditions[0]);
    const broken = set('new', 4, { readyReplicas: 2, availableReplicas: 2 });
    const before = { ...settled, replicas: 4, updatedReplicas: 4, readyReplicas: 0, availableReplicas: 0 };
    assert.deepEqual(
      said(before, { newSet: broken, others: [] }),
      settled.conditions[0],
      'removed and created pods are not a rollout',
    );
    assert.equal(
      said({ ...settled, readyReplicas: 0 })?.reason,
      'ReplicaSetUpdated',
      'another template is a rollout',
    );
  });

  it('reports the exceeded deadline only after the whole time', () => {
    const spec = { progressDeadlineSeconds: 60 };
    const up = start + 70 * seconds;
    assert.deepEqual(said(going, { spec, at: up }), going.conditions[0]);
    assert.equal(
      reason(going, { spec, at: up + 1 }),
      'False ProgressDeadlineExceeded: ReplicaSet "new" has timed out progressing.',
    );
    const failed = { ...counted, conditions: progressing('ProgressDeadlineExceeded', 'False', 99) };
    assert.equal(said(failed, { spec })?.reason, 'ProgressDeadlineExceeded');
    const done = { ...counted, conditions: progressing('NewReplicaSetAvailable') };
    assert.equal(said(done, { spec })?.reason, 'NewReplicaSetAvailable');
    const timeless = {
      ...counted,
      conditions: [{ type: 'Progressing', status: 'True' as const, reason: 'ReplicaSetUpdated' }],
    };
    assert.equal(said(timeless, { spec })?.status, 'True');
  });

  it('names the Deployment if it has no ReplicaSet', () => {
    const one = withStatus(deployment(4, { progressDeadlineSeconds: 60 }), {
      conditions: progressing('ReplicaSetUpdated'),
    });
    const found = conditionOf(planStatus(one, undefined, [], undefined, now), 'Progressing');
    assert.equal(found?.message, 'Deployment "web" has timed out progressing.');
  });
});
