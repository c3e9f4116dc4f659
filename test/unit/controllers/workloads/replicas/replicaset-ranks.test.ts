/** Order in which a ReplicaSet deletes pods, also if fields of the pods are missing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { slowStartBatches } from '../../../../../src/controllers/workloads/pods/slow-start.ts';
import {
  planReplicas,
  planStatus,
  rankForDeletion,
} from '../../../../../src/controllers/workloads/replicas/replicas-plan.ts';
import { at, pod, replicaSet, start } from '../../objects.ts';

const ready = (name: string, options = {}) => pod(name, { readyAt: 0, ...options });
const on = (name: string, nodeName: string) => ready(name, { spec: { nodeName } });
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
const ranked = (one: Pod, two: Pod, siblings: readonly Pod[] = []) =>
  names(rankForDeletion([one, two], siblings));
const silent = (name: string): Pod => ({ ...pod(name), status: undefined });
/** Pod that became unready `seconds` after the start. */
const unreadySince = (name: string, seconds: number, restarts = 0): Pod => {
  const one = pod(name, { restarts });
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: at(seconds) }];
  return { ...one, status: { ...one.status, conditions } };
};

describe('the first of two pods that a ReplicaSet deletes is', () => {
  const table: [string, Pod, Pod, Pod[]?][] = [
    [
      'the pending one, before one of unknown phase',
      pod('z', { phase: 'Pending' }),
      pod('a', { phase: 'Unknown' }),
    ],
    ['the one without a status, before a running one', silent('z'), pod('a')],
    [
      'the one with deletion cost 0, before one with cost 1',
      ready('z', { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '0' } } }),
      ready('a', { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '1' } } }),
    ],
    [
      'the one without a deletion cost, before one with cost 1',
      ready('z'),
      ready('a', { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '1' } } }),
    ],
    ['the one that restarted once, before one that never restarted', ready('z', { restarts: 1 }), ready('a')],
    ['the one with siblings on its node, before one without', on('z', 'n2'), on('a', 'n1'), [on('z', 'n2')]],
    [
      'the one that restarted more often, of two that are not ready',
      unreadySince('z', 1, 2),
      unreadySince('a', 9, 1),
    ],
  ];
  for (const [title, first, second, siblings] of table)
    it(title, () => {
      assert.deepEqual(ranked(first, second, siblings), ['z', 'a']);
      assert.deepEqual(ranked(second, first, siblings), ['z', 'a']);
    });

  it('the pod whose ready time is unknown', () => {
    const one = ready('z');
    const since = {
      ...one,
      status: { ...one.status, conditions: [{ type: 'Ready', status: 'True' as const }] },
    };
    assert.deepEqual(ranked(ready('a', { readyAt: 9 }), since), ['z', 'a']);
  });

  it('the first by name if neither has a status', () => {
    assert.deepEqual(ranked(silent('b'), silent('a')), ['a', 'b']);
  });
});

describe('the number of pods that a ReplicaSet starts and ends at once', () => {
  it('is the number of missing or excess pods, up to a burst of 500', () => {
    const plan = (replicas: number, pods: number) => {
      const owned = Array.from({ length: pods }, (_, index) => ready(`p${index}`));
      const { create, remove } = planReplicas(replicaSet('web', replicas), owned, owned);
      return [create, remove.length];
    };
    assert.deepEqual(
      [plan(2, 2), plan(3, 2), plan(1, 2)],
      [
        [0, 0],
        [1, 0],
        [0, 1],
      ],
    );
    assert.deepEqual(
      [plan(501, 0), plan(0, 501)],
      [
        [500, 0],
        [0, 500],
      ],
    );
  });

  it('doubles from one pod on, and never exceeds the number still requested', () => {
    const table: [number, number[]][] = [
      [1, [1]],
      [2, [1, 1]],
      [3, [1, 2]],
      [4, [1, 2, 1]],
    ];
    for (const [count, sizes] of table) assert.deepEqual(slowStartBatches(count), sizes);
  });
});

it('every pod counts as fully labeled if the template has no labels', () => {
  const set = replicaSet('web', 1);
  const { labels: _labels, ...metadata } = set.spec.template.metadata;
  const bare = { ...set, spec: { ...set.spec, template: { ...set.spec.template, metadata } } };
  assert.equal(planStatus(bare, [ready('a')], undefined, start, at(0)).status.fullyLabeledReplicas, 1);
});
