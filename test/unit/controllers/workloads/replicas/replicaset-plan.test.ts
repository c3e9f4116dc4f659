import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { selectorFromLabelSelector } from '../../../../../src/apimachinery/labels.ts';
import { planClaims } from '../../../../../src/controller-runtime/claim.ts';
import { slowStartBatches } from '../../../../../src/controllers/workloads/pods/slow-start.ts';
import {
  planReplicas,
  planStatus,
  rankForDeletion,
} from '../../../../../src/controllers/workloads/replicas/replicas-plan.ts';
import { at, ownedBy, pod, replicaSet, start } from '../../objects.ts';

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);

describe('planReplicas', () => {
  const ready = (name: string) => pod(name, { readyAt: 0 });
  const gone = { metadata: { deletionTimestamp: at(5) } };
  const table: [string, number, Pod[], number, string[]][] = [
    ['there are no pods', 3, [], 3, []],
    ['there are enough pods', 2, [ready('a'), ready('b')], 0, []],
    [
      'there are terminating and completed pods, which do not count',
      2,
      [ready('a'), pod('b', gone), pod('c', { phase: 'Failed' })],
      1,
      [],
    ],
    [
      'there are too many pods, of which an unready one is removed first',
      1,
      [ready('a'), pod('b')],
      0,
      ['b'],
    ],
    ['the replica count is 0', 0, [ready('a')], 0, ['a']],
    ['more pods are missing than the burst allows', 2000, [], 500, []],
  ];
  for (const [name, replicas, pods, create, remove] of table)
    it(name, () => {
      const plan = planReplicas(replicaSet('web', replicas), pods, pods);
      assert.equal(plan.create, create);
      assert.deepEqual(names(plan.remove), remove);
    });
});

it('ranks nodes only by pods that are not being deleted', () => {
  const on = (nodeName: string, name: string, metadata = {}) =>
    pod(name, { readyAt: 0, spec: { nodeName }, metadata });
  const owned = [on('n1', 'a'), on('n2', 'z')];
  const leaving = ['l1', 'l2'].map((name) => on('n1', name, { deletionTimestamp: at(5) }));
  const plan = planReplicas(replicaSet('web', 1), owned, [...owned, ...leaving, on('n2', 'other')]);
  assert.deepEqual(names(plan.remove), ['z']);
});

describe('rankForDeletion', () => {
  const cost = (value: string) => ({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } });
  const ready = (name: string, options = {}) => pod(name, { readyAt: 0, ...options });
  const table: [string, Pod, Pod][] = [
    ['unassigned', pod('z', { spec: { nodeName: undefined } }), pod('a')],
    ['pending', pod('z', { phase: 'Pending' }), pod('a')],
    ['a pod of unknown phase, before a running one', pod('z', { phase: 'Unknown' }), pod('a')],
    ['not ready', pod('z'), ready('a')],
    ['cheaper', ready('z', { metadata: cost('-5') }), ready('a')],
    [
      'a pod that is not ready, with any deletion cost',
      pod('z', { metadata: cost('9') }),
      ready('a', { metadata: cost('-9') }),
    ],
    [
      'a pending pod, with any deletion cost',
      pod('z', { phase: 'Pending', metadata: cost('9') }),
      pod('a', { metadata: cost('-9') }),
    ],
    [
      'a pod with a lower deletion cost, although ready for longer',
      ready('z', { metadata: cost('-5') }),
      ready('a', { readyAt: 9 }),
    ],
    [
      'a pod ready for a shorter time, although restarted less often',
      ready('z', { readyAt: 9 }),
      ready('a', { restarts: 3 }),
    ],
    [
      'a pod restarted more often, although older',
      ready('z', { restarts: 3 }),
      ready('a', { metadata: { creationTimestamp: at(7) } }),
    ],
    ...['007', '+7', '7.0', '2147483648', 'x', ''].map((text): [string, Pod, Pod] => [
      `a cost of ${JSON.stringify(text)}, which counts as 0`,
      ready('z', { metadata: cost(text) }),
      ready('a', { metadata: cost('1') }),
    ]),
    ...['-1', '-2147483648'].map((text): [string, Pod, Pod] => [
      `a cost of ${text}, which is less than none`,
      ready('z', { metadata: cost(text) }),
      ready('a'),
    ]),
    ['a pod with the maximum deletion cost, last', ready('z'), ready('a', { metadata: cost('2147483647') })],
    ['a pod ready for a shorter time', ready('z', { readyAt: 9 }), ready('a')],
    ['a pod restarted more often', ready('z', { restarts: 3 }), ready('a')],
    ['younger', ready('z', { metadata: { creationTimestamp: at(7) } }), ready('a')],
  ];
  for (const [name, first, second] of table)
    it(`deletes first: ${name}`, () => {
      assert.deepEqual(names(rankForDeletion([second, first], [])), ['z', 'a']);
      assert.deepEqual(names(rankForDeletion([first, second], [])), ['z', 'a']);
    });
  it('deletes pods first on nodes with more pods of the same owner', () => {
    const [a, z, other] = [
      ready('a'),
      ready('z', { spec: { nodeName: 'n2' } }),
      ready('o', { spec: { nodeName: 'n2' } }),
    ];
    assert.deepEqual(names(rankForDeletion([a, z], [a, z, other])), ['z', 'a']);
  });
  it('compares pods per node after the deletion cost and before the ready time', () => {
    const onFull = (name: string, options = {}) => ready(name, { spec: { nodeName: 'n2' }, ...options });
    const rank = (one: Pod, two: Pod) => names(rankForDeletion([one, two], [one, two, onFull('o')]));
    assert.deepEqual(rank(onFull('a'), ready('z', { metadata: cost('-5') })), ['z', 'a']);
    assert.deepEqual(rank(ready('a', { readyAt: 9 }), onFull('z')), ['z', 'a']);
  });
});

describe('planStatus', () => {
  const now = start + 60_000;
  it('contains the counts of pods, and is not written again', () => {
    const set = replicaSet('web', 3);
    set.spec.minReadySeconds = 30;
    const pods = [pod('a', { readyAt: 0 }), pod('b', { readyAt: 50 }), pod('c')];
    const first = planStatus(set, pods, undefined, now, at(60));
    assert.deepEqual(first.status, {
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 1,
    });
    assert.equal(first.nextAvailableIn, 20_000);
    const again = planStatus({ ...set, status: first.status }, pods, undefined, now, at(60));
    assert.equal(again.changed, false);
  });
  it('reports a failure, and removes it afterwards', () => {
    const set = replicaSet('web', 1);
    const failure = { reason: 'FailedCreate', message: 'quota' } as const;
    const failed = planStatus(set, [], failure, now, at(60));
    assert.deepEqual(failed.status.conditions, [
      { type: 'ReplicaFailure', status: 'True', ...failure, lastTransitionTime: at(60) },
    ]);
    const later = planStatus({ ...set, status: failed.status }, [], undefined, now, at(61));
    assert.equal(later.changed, true);
    assert.equal(later.status.conditions, undefined);
  });
});

describe('planClaims', () => {
  const set = replicaSet('web', 1);
  const selector = selectorFromLabelSelector(set.spec.selector);
  const owned = { ownerReferences: [ownedBy('ReplicaSet', 'web')] };
  const foreign = { ownerReferences: [ownedBy('ReplicaSet', 'other')] };
  const pods = [
    pod('mine', { metadata: owned }),
    pod('orphan'),
    pod('stray', { metadata: { ...owned, labels: { app: 'x' } } }),
    pod('theirs', { metadata: foreign }),
    pod('leaving', { metadata: { deletionTimestamp: at(1) } }),
  ];
  it('keeps, adopts and releases pods', () => {
    const claims = planClaims(set, selector, pods);
    assert.deepEqual(names(claims.owned), ['mine']);
    assert.deepEqual(names(claims.adopt), ['orphan']);
    assert.deepEqual(names(claims.release), ['stray']);
  });
  it('adopts and releases nothing while it is being deleted', () => {
    const dying = replicaSet('web', 1, { metadata: { ...set.metadata, deletionTimestamp: at(1) } });
    const claims = planClaims(dying, selector, pods);
    assert.deepEqual([claims.adopt.length, claims.release.length], [0, 0]);
  });
});

it('starts batches of doubling size, up to the count', () => {
  assert.deepEqual(slowStartBatches(0), []);
  assert.deepEqual(slowStartBatches(30), [1, 2, 4, 8, 15]);
});
