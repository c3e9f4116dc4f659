/** Status of a StatefulSet from its pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatefulSet } from '../../../../../src/api/apps/v1/stateful-set.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { planStatus } from '../../../../../src/controllers/workloads/stateful/stateful-status-plan.ts';
import { at, start } from '../../objects.ts';
import { member, statefulSet } from './stateful-objects.ts';

const revisions = { current: 'old', update: 'new' };
const plan = (set: StatefulSet, pods: readonly Pod[], going: readonly Pod[] = []) =>
  planStatus(set, revisions, pods, new Set(going), start + 60_000);
const ending = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: at(1) } });
const done = (set: StatefulSet, pods: readonly Pod[]) => plan(set, pods).status.currentRevision === 'new';

describe('the status of a StatefulSet', () => {
  it('counts the ready, the available, the current and the updated pods', () => {
    const set = statefulSet(6, { minReadySeconds: 50 });
    const pods = [
      member(0, 'old'),
      member(1, 'old', { readyAt: 20 }),
      member(2, 'new', { readyAt: 15 }),
      member(3, 'new', { readyAt: undefined }),
      ending(member(4, 'new')),
      member(5, 'old', { phase: 'Failed' }),
    ];
    const { status, nextAvailableIn } = plan(set, pods, pods.slice(5));
    assert.deepEqual(status, {
      observedGeneration: 1,
      replicas: 6,
      readyReplicas: 4,
      availableReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      currentRevision: 'old',
      updateRevision: 'new',
      collisionCount: 0,
    });
    assert.equal(nextAvailableIn, 5_000);
  });

  it('omits counts of zero, as Kubernetes does', () => {
    assert.equal(
      JSON.stringify(plan(statefulSet(1), [member(0, 'other', { readyAt: undefined })]).status),
      '{"observedGeneration":1,"replicas":1,"availableReplicas":0,"currentRevision":"old","updateRevision":"new","collisionCount":0}',
    );
  });

  it('reports a rollout as complete when all desired pods have the new template and are ready, and there are no others', () => {
    const both = [member(0), member(1)];
    assert.equal(done(statefulSet(2), both), true);
    assert.deepEqual(plan(statefulSet(2), both).status.currentReplicas, 2);
    assert.equal(done(statefulSet(0), []), true);
    assert.equal(done(statefulSet(3), both), false);
    assert.equal(done(statefulSet(2), [member(0), member(1, 'old')]), false);
    assert.equal(done(statefulSet(2), [member(0), member(1, 'new', { readyAt: undefined })]), false);
    assert.equal(done(statefulSet(2), [...both, ending(member(2))]), false);
    assert.equal(done(statefulSet(2, { updateStrategy: { type: 'OnDelete' } }), both), false);
  });

  it('keeps foreign fields, and is written when something changed', () => {
    const set = statefulSet(1);
    const conditions = [{ type: 'Mine', status: 'True' as const }];
    const before = { ...plan(set, [member(0)]).status, collisionCount: 3, conditions };
    assert.equal(plan({ ...set, status: before }, [member(0)]).changed, false);
    const { status, changed } = plan({ ...set, status: before }, []);
    assert.deepEqual([changed, status.collisionCount, status.conditions], [true, 3, conditions]);
  });
});
