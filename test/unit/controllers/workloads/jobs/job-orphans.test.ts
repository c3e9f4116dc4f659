/** Pods with the tracking finalizer that no Job will count. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { jobOrphans } from '../../../../../src/controllers/workloads/jobs/job-orphans.ts';
import { trackingFinalizer } from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { ownedBy } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { job, jobPod, owners } from './job-world.ts';

const finished = { conditions: [{ type: 'Failed', status: 'True' as const }] };
const other = { ...job(), metadata: { ...job().metadata, uid: 'another' } };
const cases: [
  what: string,
  ownerReferences: Pod['metadata']['ownerReferences'],
  one: Job | undefined,
  kept: boolean,
][] = [
  ['without an owner', undefined, undefined, false],
  ['of a Job that runs', owners, job(), true],
  ['of a deleted Job', owners, undefined, false],
  ['of a Job that was replaced', owners, other, false],
  ['of a Job that has finished', owners, job({}, finished), false],
  [
    'of a Job that another controller finishes',
    owners,
    job({ managedBy: 'example.com/queue' }, finished),
    true,
  ],
  ['of another kind of owner', [ownedBy('ReplicaSet', 'work')], undefined, true],
  ['of a Job of another group', [ownedBy('Job', 'work')], undefined, true],
];

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(jobOrphans);
});

describe('the finalizer of a pod', () => {
  for (const [what, ownerReferences, one, kept] of cases)
    it(`${what} ${kept ? 'is kept' : 'is removed'}`, async () => {
      if (one) world.put(jobResource, one);
      const pod = world.put(podResource, jobPod('a', { metadata: { ownerReferences } }));
      for (const key of world.keysOf(podResource, pod)) await world.reconcile(key);
      const { finalizers } = world.stored(podResource, 'default/a')?.metadata ?? {};
      assert.deepEqual(finalizers, kept ? [trackingFinalizer] : []);
    });

  it('is the only finalizer that is removed', async () => {
    const finalizers = ['example.com/mine', trackingFinalizer];
    world.put(podResource, jobPod('a', { metadata: { ownerReferences: [], finalizers } }));
    await world.reconcile('default/a');
    assert.deepEqual(world.stored(podResource, 'default/a')?.metadata.finalizers, ['example.com/mine']);
  });

  it('is removed when its Job is deleted or ends, and not while the Job runs', () => {
    world.put(podResource, jobPod('a'));
    world.put(podResource, jobPod('b', { tracked: false }));
    assert.deepEqual(world.keysOf(podResource, jobPod('b', { tracked: false })), []);
    assert.deepEqual(world.keysOf(jobResource, job()), ['default/a'], 'it is not in the cache any more');
    world.put(jobResource, job());
    assert.deepEqual(world.keysOf(jobResource, job()), []);
    world.put(jobResource, job({}, finished));
    assert.deepEqual(world.keysOf(jobResource, job({}, finished)), ['default/a']);
  });

  it('is kept if only the cache lacks the Job', async () => {
    world.store(jobResource, job());
    world.put(podResource, jobPod('a'));
    await world.reconcile('default/a');
    assert.deepEqual(world.stored(podResource, 'default/a')?.metadata.finalizers, [trackingFinalizer]);
    world.store(jobResource, other);
    await world.reconcile('default/a');
    assert.deepEqual(world.stored(podResource, 'default/a')?.metadata.finalizers, []);
  });

  it('is kept on a new pod of the same name that is not in the cache', async () => {
    world.put(podResource, jobPod('a', { metadata: { ownerReferences: [] } }));
    world.store(podResource, jobPod('a', { metadata: { uid: 'later' } }));
    await assert.rejects(world.reconcile('default/a'), /it has changed/);
    assert.deepEqual(world.stored(podResource, 'default/a')?.metadata.finalizers, [trackingFinalizer]);
  });

  it('is skipped without error when the pod is deleted', async () => {
    world.seen.put(podResource, jobPod('a'));
    await world.reconcile('default/a');
    await world.reconcile('default/none');
  });
});
