/** The pods of a Job that ends, is suspended, loses pods, or shares them with others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newForbidden, newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { trackingFinalizer } from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { at, pod } from '../../objects.ts';
import { JobWorld, job, jobPod, key, owners } from './job-world.ts';

describe('a Job that ends while pods run', () => {
  it('removes them, counts them, and is Failed when they are deleted', async () => {
    const world = new JobWorld(job({ parallelism: 2, completions: 2, activeDeadlineSeconds: 30 }));
    assert.equal(await world.settle(), 30_000);
    await world.clock.advance(30_000);
    await world.settle();
    assert.equal(await world.settle(), undefined, 'nothing is to be done before its pods have ended');
    assert.deepEqual(world.conditions, ['FailureTarget=True DeadlineExceeded']);
    assert.deepEqual([world.job.status?.failed, world.job.status?.terminating], [2, 2]);
    for (const one of world.pods) world.remove(one);
    await world.settle();
    assert.deepEqual(world.conditions, [
      'FailureTarget=True DeadlineExceeded',
      'Failed=True DeadlineExceeded',
    ]);
    assert.deepEqual(world.news, [
      'Warning DeadlineExceeded work: Job was active longer than specified deadline',
    ]);
    assert.deepEqual([world.job.status?.failed, world.job.status?.terminating], [2, 0]);
  });

  it('keeps its first reason, independent of later states of its pods', async () => {
    const world = new JobWorld(job({ backoffLimit: 0, parallelism: 2, completions: 2 }));
    await world.settle();
    const [a, b] = world.pods;
    assert.ok(a && b);
    world.end(a, 'Failed');
    await world.settle();
    const left = world.stored(podResource, `default/${b.metadata.name}`);
    assert.ok(left);
    world.end(left, 'Succeeded');
    await world.settle();
    assert.deepEqual(world.conditions, [
      'FailureTarget=True BackoffLimitExceeded',
      'Failed=True BackoffLimitExceeded',
    ]);
  });

  it('counts containers that are started again in their pods', async () => {
    const spec = job().spec;
    const template = {
      ...spec.template,
      spec: { ...spec.template.spec, restartPolicy: 'OnFailure' as const },
    };
    for (const [backoffLimit, restarts, fails] of [
      [0, 0, false],
      [0, 1, true],
      [3, 2, false],
      [3, 3, true],
    ] as const) {
      const world = new JobWorld(job({ backoffLimit, template }), jobPod('a', { restarts }));
      await world.settle();
      assert.equal(world.conditions.length > 0, fails, `limit ${backoffLimit}, ${restarts} restarts`);
    }
  });

  it('is not finished while a pod could not be removed', async () => {
    const world = new JobWorld(job({ backoffLimit: 0 }), jobPod('a', { phase: 'Failed' }), jobPod('b'));
    world.refuse = (verb) => (verb === 'delete' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(world.conditions, []);
    world.refuse = () => undefined;
    await world.settle();
    assert.deepEqual(world.conditions, ['FailureTarget=True BackoffLimitExceeded']);
  });
});

describe('suspending a Job', () => {
  it('ends its pods without a failure, and resuming restarts its time', async () => {
    const spec = { parallelism: 2, completions: 2, activeDeadlineSeconds: 60 };
    const world = new JobWorld(job(spec));
    await world.settle();
    await world.clock.advance(50_000);
    world.put(jobResource, { ...world.job, spec: job({ ...spec, suspend: true }).spec });
    assert.equal(await world.settle(), undefined);
    assert.equal(world.running.length, 0);
    assert.deepEqual([world.job.status?.active, world.job.status?.terminating], [undefined, 2]);
    for (const one of world.pods) world.remove(one);
    await world.clock.advance(50_000);
    await world.settle();
    assert.deepEqual(world.conditions, ['Suspended=True JobSuspended']);
    world.put(jobResource, { ...world.job, spec: job(spec).spec });
    assert.equal(await world.settle(), 60_000);
    assert.deepEqual(world.conditions, ['Suspended=False JobResumed']);
    assert.deepEqual([world.job.status?.failed, world.job.status?.startTime], [undefined, at(100)]);
    assert.equal(world.running.length, 2);
    assert.deepEqual(world.news, [
      'Normal Suspended work: Job suspended',
      'Normal Resumed work: Job resumed',
    ]);
  });

  it('a Job created as suspended creates no pods and has no start time', async () => {
    const world = new JobWorld(job({ suspend: true }));
    await world.settle();
    assert.equal(world.pods.length, 0);
    assert.equal(world.job.status?.startTime, undefined);
  });
});

describe('pods that are being deleted', () => {
  const deleted = { deletionTimestamp: at(0), deletionGracePeriodSeconds: 0 };

  it('count as failed and are replaced after the back-off', async () => {
    const world = new JobWorld(job(), jobPod('a', { metadata: deleted }));
    assert.equal(await world.settle(), 10_000);
    assert.deepEqual([world.job.status?.failed, world.job.status?.terminating], [1, 1]);
    const [a] = world.pods;
    assert.ok(a);
    world.remove(a);
    await world.clock.advance(10_000);
    await world.settle();
    assert.equal(world.running.length, 1);
  });

  it('are replaced only after they failed, with podReplacementPolicy Failed', async () => {
    const world = new JobWorld(job({ podReplacementPolicy: 'Failed' }), jobPod('a', { metadata: deleted }));
    assert.equal(await world.settle(), undefined);
    assert.deepEqual([world.running.length, world.job.status?.failed], [0, undefined]);
    assert.equal(world.job.status?.terminating, 1);
    for (const one of world.pods) world.end(one, 'Failed');
    await world.settle();
    assert.deepEqual([world.job.status?.failed, world.job.status?.terminating], [1, 0]);
    await world.clock.advance(10_000);
    await world.settle();
    assert.equal(world.running.length, 1);
  });
});

describe('ownership of pods', () => {
  it('includes adopting and counting pods that the selector matches, and releasing pods that no longer match', async () => {
    const labels = job().metadata.labels ?? {};
    const world = new JobWorld(
      job({ completions: 2 }),
      pod('loose', { metadata: { labels } }),
      jobPod('astray', { metadata: { labels: { app: 'other' } } }),
    );
    await world.settle();
    const named = (name: string) => world.stored(podResource, `default/${name}`)?.metadata;
    assert.deepEqual(named('loose')?.ownerReferences, owners);
    assert.deepEqual(named('loose')?.finalizers, [trackingFinalizer]);
    assert.deepEqual([named('astray')?.ownerReferences, named('astray')?.finalizers], [[], []]);
    assert.equal(world.running.length, 2, 'the adopted one is enough');
  });

  it('is not taken from another controller that owns the pod', async () => {
    const world = new JobWorld(
      job({ managedBy: 'example.com/queue' }),
      pod('loose', { metadata: job().metadata }),
    );
    await world.settle();
    assert.deepEqual(world.asked, []);
    const own = new JobWorld(job({ managedBy: 'kubernetes.io/job-controller' }));
    await own.settle();
    assert.equal(own.pods.length, 1);
  });

  it('causes no creation while the Job is being deleted, and pods are released', async () => {
    const one = job({ parallelism: 2, completions: 2 });
    const metadata = { ...one.metadata, deletionTimestamp: at(0), finalizers: ['foregroundDeletion'] };
    const world = new JobWorld({ ...one, metadata }, jobPod('a'));
    await world.settle();
    assert.deepEqual(
      world.pods.map(({ metadata: { name, finalizers } }) => [name, finalizers]),
      [['a', []]],
    );
  });
});

describe('a server that rejects requests', () => {
  it('to create pods causes an event, an unchanged status, and a retry', async () => {
    const world = new JobWorld(job({ parallelism: 5, completions: 5 }));
    world.refuse = (verb) =>
      verb === 'create' ? newForbidden(podResource, 'x', 'exceeded quota') : undefined;
    await assert.rejects(world.reconcile(key), /exceeded quota/);
    assert.equal(world.asked.filter((text) => text.startsWith('create')).length, 1, 'one try tells');
    assert.match(world.told.join(), /Warning FailedCreate work: Error creating: .*exceeded quota/);
    assert.deepEqual([world.job.status?.active, world.job.status?.startTime], [undefined, at(0)]);
    world.refuse = () => undefined;
    await world.settle();
    assert.equal(world.running.length, 5);
  });
});
