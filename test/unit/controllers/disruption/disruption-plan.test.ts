import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PodDisruptionBudget } from '../../../../src/api/policy/v1/pod-disruption-budget.ts';
import {
  deletionTimeoutMs,
  planBudget,
  type ScaleOf,
} from '../../../../src/controllers/disruption/disruption-plan.ts';
import { at, meta, ownedBy, pod, start } from '../objects.ts';

const budget = (
  spec: PodDisruptionBudget['spec'],
  status?: PodDisruptionBudget['status'],
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: meta('pdb', { generation: 3 }),
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  ...(status && { status }),
});
const owned = (name: string, by: string | undefined = 'web', over: Parameters<typeof pod>[1] = {}): Pod =>
  pod(name, {
    readyAt: 0,
    ...over,
    metadata: { ...(by && { ownerReferences: [ownedBy('ReplicaSet', by)] }), ...over.metadata },
  });
const scales: Record<string, { uid: string; replicas: number }> = {
  web: { uid: 'a', replicas: 5 },
  // Two ReplicaSets of one Deployment.
  old: { uid: 'd', replicas: 4 },
  new: { uid: 'd', replicas: 4 },
};
const scaleOf: ScaleOf = ({ name }) => scales[name];
const five = ['a', 'b', 'c', 'd', 'e'].map((name) => owned(name));
const unready = (name: string) => owned(name, 'web', { readyAt: undefined as never });
const plan = (one: PodDisruptionBudget, pods: readonly Pod[], now = start) =>
  planBudget(one, pods, scaleOf, now);
const numbers = ({ status }: ReturnType<typeof planBudget>) =>
  status && [status.expectedPods, status.desiredHealthy, status.currentHealthy, status.disruptionsAllowed];

describe('the number of pods that may be disrupted', () => {
  const table: [string, PodDisruptionBudget['spec'], Pod[], (number | undefined)[]][] = [
    ['with minAvailable as a number', { minAvailable: 3 }, five, [5, 3, 5, 2]],
    ['with an owner of any name', { minAvailable: 0 }, [owned('constructor'), owned('a')], [2, 0, 2, 2]],
    ['with minAvailable as a percentage, rounded up', { minAvailable: '50%' }, five, [5, 3, 5, 2]],
    ['with maxUnavailable as a number', { maxUnavailable: 1 }, five, [5, 4, 5, 1]],
    ['with maxUnavailable as a percentage, rounded up', { maxUnavailable: '30%' }, five, [5, 3, 5, 2]],
    ['with maxUnavailable above the number of pods', { maxUnavailable: 9 }, five, [5, 0, 5, 5]],
    ['is 0 while pods are missing', { maxUnavailable: 1 }, five.slice(1), [5, 4, 4, 0]],
    [
      'is 0 while too many pods are not ready',
      { minAvailable: 5 },
      [...five.slice(1), unready('a')],
      [5, 5, 4, 0],
    ],
    ['is 0 without pods', { minAvailable: 0 }, [], [0, 0, 0, 0]],
    ['with a single pod', { minAvailable: 0 }, five.slice(1, 2), [1, 0, 1, 1]],
    ['is 0 without minAvailable and maxUnavailable', {}, five, [0, 0, 5, 0]],
    [
      'with pods of several owners',
      { maxUnavailable: 1 },
      [owned('x', 'web'), owned('y', 'old')],
      [9, 8, 2, 0],
    ],
    [
      'counts a Deployment with two ReplicaSets once',
      { maxUnavailable: 3 },
      [owned('x', 'old'), owned('y', 'new')],
      [4, 1, 2, 1],
    ],
    [
      'does not count pods that are being deleted',
      { minAvailable: 1 },
      [owned('x'), owned('y', 'web', { metadata: { deletionTimestamp: at(1) } })],
      [2, 1, 1, 0],
    ],
  ];
  for (const [what, spec, pods, expected] of table)
    it(what, () => assert.deepEqual(numbers(plan(budget(spec), pods)), expected));
});

describe('the status of a budget', () => {
  it('has a condition with its reason, transition time and observed generation', () => {
    const { status } = plan(budget({ minAvailable: 1 }), five);
    assert.equal(status?.observedGeneration, 3);
    assert.deepEqual(status.conditions, [
      {
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        observedGeneration: 3,
        lastTransitionTime: at(0),
      },
    ]);
    const later = plan(budget({ minAvailable: 1 }, status), five.slice(0, 3), start + 5000).status;
    assert.equal(later?.conditions?.[0]?.lastTransitionTime, at(0));
    const none = plan(budget({ minAvailable: 3 }, later), five.slice(0, 3), start + 9000).status;
    const [condition] = none?.conditions ?? [];
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.lastTransitionTime],
      ['False', 'InsufficientPods', at(9)],
    );
  });

  it('is not written again if it is unchanged', () => {
    const { status } = plan(budget({ minAvailable: 1 }), five);
    assert.equal(plan(budget({ minAvailable: 1 }, status), five, start + 1000).status, undefined);
  });

  it('allows no disruption if the owner of a pod is unknown, and reports the reason once', () => {
    const before = plan(budget({ maxUnavailable: 1 }), five).status;
    const { status, toEmit } = plan(budget({ maxUnavailable: 1 }, before), [owned('x', 'nobody')]);
    assert.equal(status?.disruptionsAllowed, 0);
    assert.deepEqual(
      [status.conditions?.length, status.conditions?.[0]?.reason, status.conditions?.[0]?.message],
      [1, 'SyncFailed', 'found no controllers for pod "x"'],
    );
    const message = 'Failed to calculate the number of expected pods: found no controllers for pod "x"';
    assert.deepEqual(toEmit, [
      { about: 'budget', type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message },
    ]);
    assert.equal(plan(budget({ maxUnavailable: 1 }, status), [owned('x', 'nobody')]).status, undefined);
    const first = plan(budget({ maxUnavailable: 1 }), [owned('x', 'nobody')]);
    assert.deepEqual(numbers(first), [0, 0, 0, 0]);
  });

  it('reports pods without an owner, which an absolute minAvailable counts', () => {
    const loose = [pod('x', { readyAt: 0 }), pod('y', { readyAt: 0 })];
    const share = plan(budget({ maxUnavailable: '50%' }), loose);
    assert.deepEqual(numbers(share), [0, 0, 2, 0]);
    assert.deepEqual(
      share.toEmit.map(({ type, reason }) => [type, reason]),
      [['Warning', 'UnmanagedPods']],
    );
    assert.deepEqual(numbers(plan(budget({ minAvailable: 1 }), loose)), [2, 1, 2, 1]);
    const [one] = plan(budget({ maxUnavailable: '50%' }), [...five, ...loose.slice(1)]).toEmit;
    assert.match(one?.message ?? '', /^1 of the selected pods, such as y, have no controller/);
  });
});

describe('pods that an eviction has announced', () => {
  const announced = (since: number) =>
    budget(
      { minAvailable: 3 },
      {
        disruptionsAllowed: 0,
        currentHealthy: 5,
        desiredHealthy: 3,
        expectedPods: 5,
        disruptedPods: { a: at(since), gone: at(since) },
      },
    );

  it('are not counted as healthy from the eviction until they are deleted', () => {
    const { status, recheckIn } = plan(announced(0), five, start + 20_000);
    assert.deepEqual(status?.disruptedPods, { a: at(0) });
    assert.equal(status.disruptionsAllowed, 1);
    assert.equal(recheckIn, deletionTimeoutMs - 20_000);
    const last = plan(announced(0), five, start + deletionTimeoutMs - 1);
    assert.deepEqual([last.status?.disruptedPods, last.recheckIn], [{ a: at(0) }, 1]);
  });

  it('are reconciled again when the first of them should be deleted', () => {
    const { status } = announced(0);
    const announcements: Record<string, string>[] = [
      { a: at(5), b: at(0), c: at(9) },
      { a: at(0), b: at(5) },
    ];
    for (const disruptedPods of announcements) {
      const one = budget({ minAvailable: 3 }, status && { ...status, disruptedPods });
      assert.equal(plan(one, five, start + 20_000).recheckIn, deletionTimeoutMs - 20_000);
    }
  });

  it('are counted as healthy again if the eviction did not happen, and an event reports that', () => {
    const { status, toEmit, recheckIn } = plan(announced(0), five, start + deletionTimeoutMs);
    assert.equal(status?.disruptedPods, undefined);
    assert.equal(status?.disruptionsAllowed, 2);
    assert.equal(recheckIn, undefined);
    assert.deepEqual(
      toEmit.map(({ about, reason }) => [about === 'budget' ? about : about.metadata.name, reason]),
      [['a', 'NotDeleted']],
    );
  });

  it('are forgotten when their deletion has begun', () => {
    const [, ...others] = five;
    const going = owned('a', 'web', { metadata: { deletionTimestamp: at(1) } });
    const { status } = plan(announced(0), [going, ...others], start + 1000);
    assert.equal(status?.disruptedPods, undefined);
    assert.equal(status?.currentHealthy, 4);
  });
});
