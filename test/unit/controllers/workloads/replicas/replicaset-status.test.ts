/** Status of a ReplicaSet, and the time of its next change. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import {
  planReplicas,
  planStatus,
  rankForDeletion,
} from '../../../../../src/controllers/workloads/replicas/replicas-plan.ts';
import { at, pod, replicaSet, start } from '../../objects.ts';

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
const set = (minReadySeconds?: number) => {
  const one = replicaSet('web', 3);
  return { ...one, spec: { ...one.spec, minReadySeconds } };
};
const ready = (name: string, readyAt = 0, options = {}) => pod(name, { readyAt, ...options });
const statusOf = (one: ReturnType<typeof set>, pods: readonly Pod[], seconds: number) =>
  planStatus(one, pods, undefined, start + seconds * 1000, at(seconds));

describe('the pod counts of a ReplicaSet', () => {
  const gone = { metadata: { deletionTimestamp: at(5) } };
  const other = { metadata: { labels: { app: 'other' } } };

  it('leave out pods that terminate or have ended, and report pods of other labels separately', () => {
    const pods = [
      ready('a'),
      ready('b', 0, gone),
      ready('c', 0, { phase: 'Failed' }),
      ready('d', 0, other),
      pod('e'),
    ];
    const { status } = statusOf(set(), pods, 10);
    assert.deepEqual(
      [status.replicas, status.fullyLabeledReplicas, status.readyReplicas, status.availableReplicas],
      [3, 2, 2, 2],
    );
    assert.ok(!('conditions' in status));
  });

  it('have the time when the next pod becomes available, not the last', () => {
    const pods = [ready('a', 0), ready('b', 4), ready('c', 8), pod('d')];
    const { status, nextAvailableIn } = statusOf(set(10), pods, 10);
    assert.equal(status.availableReplicas, 1);
    assert.equal(nextAvailableIn, 4000);
  });

  it('have no time without a next change', () => {
    assert.equal(statusOf(set(10), [ready('a'), pod('b')], 10).nextAvailableIn, undefined);
    assert.equal(statusOf(set(), [ready('a', 10)], 10).nextAvailableIn, undefined);
    assert.equal(statusOf(set(10), [], 10).nextAvailableIn, undefined);
  });
});

describe('the pods that a ReplicaSet deletes', () => {
  it('exclude terminating pods of its family', () => {
    const on = (name: string, nodeName: string, options = {}) =>
      ready(name, 0, { spec: { nodeName }, ...options });
    const ending = { metadata: { deletionTimestamp: at(5) } };
    const [a, z] = [on('a', 'n1'), on('z', 'n2')];
    const family = [a, z, on('x', 'n1', ending), on('y', 'n1', ending)];
    const one = { ...set(), spec: { ...set().spec, replicas: 1 } };
    assert.deepEqual(names(planReplicas(one, [a, z], family).remove), ['a']);
    assert.deepEqual(names(planReplicas(one, [a, z], [...family, on('w', 'n2')]).remove), ['z']);
  });

  it('are the first by name among equals, and pods of other nodes do not count', () => {
    const unassigned = (name: string) => pod(name, { phase: 'Pending', spec: { nodeName: undefined } });
    assert.deepEqual(names(rankForDeletion([ready('c'), ready('a'), ready('b')], [])), ['a', 'b', 'c']);
    const family = [unassigned('x'), unassigned('y')];
    assert.deepEqual(names(rankForDeletion([unassigned('b'), unassigned('a')], family)), ['a', 'b']);
  });

  it('treat a cost that is not a decimal number of 32 bits as none', () => {
    const costly = (name: string, cost: string) =>
      ready(name, 0, { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } });
    for (const cost of ['', '+1', '01', '1.5', 'x', '0x9', ' 9'])
      assert.deepEqual(names(rankForDeletion([costly('z', cost), ready('a')], [])), ['a', 'z'], cost);
    assert.deepEqual(names(rankForDeletion([ready('a'), costly('z', '-1')], [])), ['z', 'a']);
    assert.deepEqual(names(rankForDeletion([costly('a', '1'), ready('z')], [])), ['z', 'a']);
  });

  it('treat a pod without a time as the youngest', () => {
    const young = ready('z', 0, { metadata: { creationTimestamp: '' } });
    assert.deepEqual(names(rankForDeletion([ready('a'), young], [])), ['z', 'a']);
  });
});
