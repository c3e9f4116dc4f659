/** The state of a pod in a word, and the workload that the pod belongs to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podHealth, podPhase, restartsOf } from '../../../../src/dashboard/app/pods/plan/pod-phase.ts';
import { workloadOf } from '../../../../src/dashboard/app/pods/plan/workload.ts';
import { condition, pod, waiting } from '../../why/why-objects.ts';

describe('the state of a pod', () => {
  it('has the word of ctl get pods', () => {
    assert.equal(podPhase(waiting('a', 'CrashLoopBackOff', 'back-off')), 'CrashLoopBackOff');
    assert.equal(podPhase(pod('a', { status: { phase: 'Succeeded' } })), 'Succeeded');
    assert.equal(
      podPhase(pod('a', { metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running' } })),
      'Terminating',
    );
  });

  it('is read from a pod without containers or status', () => {
    assert.equal(podPhase({}), 'Unknown');
    assert.equal(podHealth({}), 'waiting');
    assert.equal(restartsOf({ spec: 1, status: null }), 0);
  });

  it('is good when the pod is ready, and bad when it cannot become ready by itself', () => {
    const ready = { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } };
    assert.equal(podHealth(pod('a', ready)), 'good');
    assert.equal(podHealth(waiting('a', 'ContainerCreating', '')), 'waiting');
    for (const reason of ['ImagePullBackOff', 'ErrImageNeverPull', 'CreateContainerConfigError'])
      assert.equal(podHealth(waiting('a', reason, '')), 'bad', reason);
    assert.equal(podHealth(pod('a', { ...ready, metadata: { deletionTimestamp: 'x' } })), 'ending');
  });
});

describe('the workload of a pod', () => {
  const owned = (kind: string, name: string, labels: object = {}) =>
    workloadOf(pod('p', { metadata: { labels, ownerReferences: [{ kind, name, controller: true }] } }));

  it('is the Deployment of its ReplicaSet, or the ReplicaSet itself', () => {
    const labels = { 'pod-template-hash': 'abc' };
    assert.deepEqual(owned('ReplicaSet', 'web-abc', labels), { kind: 'deployments.apps', name: 'web' });
    assert.deepEqual(owned('ReplicaSet', 'web'), { kind: 'replicasets.apps', name: 'web' });
  });

  it('is its StatefulSet, DaemonSet or Job, else the pod itself', () => {
    assert.deepEqual(owned('StatefulSet', 'db'), { kind: 'statefulsets.apps', name: 'db' });
    assert.deepEqual(owned('Job', 'once'), { kind: 'jobs.batch', name: 'once' });
    assert.deepEqual(owned('Other', 'x'), { kind: 'pods', name: 'p' });
    assert.deepEqual(workloadOf(pod('alone')), { kind: 'pods', name: 'alone' });
  });
});
