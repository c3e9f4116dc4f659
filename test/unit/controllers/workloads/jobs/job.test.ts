/** Jobs of one and of several pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { trackingFinalizer } from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { at } from '../../objects.ts';
import { JobWorld, job, jobPod, key, owners } from './job-world.ts';

describe('a Job of one pod', () => {
  it('does not block other work in a namespace with many pods, which are removed and released in turns', async () => {
    const pods = Array.from({ length: 1_000 }, (_, index) => jobPod(`pod-${index}`, { readyAt: 0 }));
    const world = new JobWorld(
      job({ parallelism: 1_000, completions: 1_000, activeDeadlineSeconds: 10 }, { startTime: at(0) }),
      ...pods,
    );
    await world.clock.advance(11_000);
    const most = await world.maxAskedInOneTurn(() => world.reconcile(key));
    assert.ok(most <= 150, `${most} requests in one turn of the event loop`);
    assert.deepEqual(
      world.all(podResource).filter(({ metadata }) => !metadata.deletionTimestamp),
      [],
    );
  });

  it('creates the pod, tracked and owned, and reports its start time', async () => {
    const world = new JobWorld(job());
    await world.settle();
    const [one, ...more] = world.pods;
    assert.deepEqual(more, []);
    assert.deepEqual(one?.metadata.finalizers, [trackingFinalizer]);
    assert.deepEqual(one?.metadata.ownerReferences, owners);
    assert.deepEqual(world.job.status, {
      startTime: at(0),
      active: 1,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
  });

  it('is complete once the pod has succeeded', async () => {
    const world = new JobWorld(job());
    await world.settle();
    await world.clock.advance(5_000);
    for (const one of world.pods) world.end(one, 'Succeeded');
    await world.settle();
    const { conditions, ...status } = world.job.status ?? {};
    assert.deepEqual(status, {
      startTime: at(0),
      completionTime: at(5),
      succeeded: 1,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    assert.deepEqual(world.conditions, [
      'SuccessCriteriaMet=True CompletionsReached',
      'Complete=True CompletionsReached',
    ]);
    assert.equal(conditions?.at(-1)?.message, 'Reached expected number of succeeded pods');
    assert.deepEqual(
      world.pods.flatMap(({ metadata }) => metadata.finalizers ?? []),
      [],
    );
    assert.deepEqual(world.news, ['Normal Completed work: Job completed']);
  });

  it('counts its ready pods', async () => {
    const world = new JobWorld(job(), jobPod('a', { readyAt: 0 }));
    await world.settle();
    assert.equal(world.job.status?.ready, 1);
  });

  it('replaces a failed pod after 10 s, 20 s, …, and fails at the limit', async () => {
    const world = new JobWorld(job({ backoffLimit: 2 }));
    await world.settle();
    for (const wait of [10_000, 20_000]) {
      for (const one of world.running) world.end(one, 'Failed');
      assert.equal(await world.settle(), wait);
      assert.equal(world.running.length, 0);
      await world.clock.advance(wait - 1);
      assert.equal(await world.settle(), 1);
      await world.clock.advance(1);
      await world.settle();
      assert.equal(world.running.length, 1);
    }
    for (const one of world.running) world.end(one, 'Failed');
    await world.settle();
    assert.equal(world.job.status?.failed, 3);
    assert.deepEqual(world.conditions, [
      'FailureTarget=True BackoffLimitExceeded',
      'Failed=True BackoffLimitExceeded',
    ]);
    assert.deepEqual(world.news, [
      'Warning BackoffLimitExceeded work: Job has reached the specified backoff limit',
    ]);
  });

  it('does not wait for writes of an earlier Job of its name', async () => {
    const world = new JobWorld(job());
    await world.settle();
    for (const one of world.pods) world.end(one, 'Failed');
    assert.ok(await world.settle(), 'the first waits');
    const { metadata, ...made } = job();
    for (const one of world.pods) world.take(podResource, `default/${one.metadata.name}`);
    world.store(jobResource, { ...made, metadata: { ...metadata, uid: 'later' } });
    await world.settle();
    assert.equal(world.running.length, 1);
  });

  it('waits for the same back-off after a restart of the controller, by the times of the pods', async () => {
    const counted = { tracked: false, phase: 'Failed', exitCode: 1 } as const;
    const world = new JobWorld(
      job({}, { startTime: at(0), failed: 3 }),
      ...[0, 1, 2].map((endedAt) => jobPod(`p${endedAt}`, { ...counted, endedAt })),
    );
    await world.clock.advance(5_000);
    assert.equal(await world.settle(), 37_000);
    const better = new JobWorld(
      job({ completions: 2 }, { startTime: at(0), failed: 1, succeeded: 1 }),
      jobPod('a', { ...counted, endedAt: 0 }),
      jobPod('b', { tracked: false, phase: 'Succeeded', endedAt: 1 }),
    );
    await better.settle();
    assert.equal(better.running.length, 1);
  });

  it('waits at most for the back-off if the clock of a node is ahead', async () => {
    const world = new JobWorld(
      job({}, { startTime: at(0), failed: 1 }),
      jobPod('a', { tracked: false, phase: 'Failed', endedAt: 1e6 }),
    );
    assert.equal(await world.settle(), 10_000);
    await world.clock.advance(4_000);
    assert.equal(await world.settle(), 6_000);
    await world.clock.advance(6_000);
    await world.settle();
    assert.equal(world.running.length, 1);
  });
});

describe('a Job of several pods', () => {
  it('keeps as many pods running as completions remain, and at most its parallelism', async () => {
    const world = new JobWorld(job({ parallelism: 3, completions: 4 }));
    const sizes = [];
    for (let round = 0; round < 4; round++) {
      await world.settle();
      sizes.push(world.running.length);
      const [first] = world.running;
      if (first) world.end(first, 'Succeeded');
    }
    await world.settle();
    assert.deepEqual(sizes, [3, 3, 2, 1]);
    assert.equal(world.job.status?.succeeded, 4);
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
  });

  it('starts no pods after the first success if it has no completions, and is complete when the others have ended', async () => {
    const world = new JobWorld(job({ parallelism: 3, completions: undefined }));
    await world.settle();
    const [a, b, c] = world.pods;
    assert.ok(a && b && c);
    world.end(a, 'Succeeded');
    world.end(b, 'Failed');
    await world.settle();
    assert.deepEqual([world.running.length, world.conditions], [1, []]);
    world.end(c, 'Failed');
    await world.settle();
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
    assert.deepEqual([world.job.status?.succeeded, world.job.status?.failed], [1, 2]);
  });

  it('with 0 completions is complete at once, and with parallelism 0 waits', async () => {
    const none = new JobWorld(job({ completions: 0 }));
    await none.settle();
    assert.equal(none.conditions.at(-1), 'Complete=True CompletionsReached');
    const paused = new JobWorld(job({ parallelism: 0 }));
    await paused.settle();
    assert.deepEqual([paused.pods.length, paused.conditions], [0, []]);
  });

  it('with a lower parallelism removes the least advanced pods, which do not count as failures', async () => {
    const world = new JobWorld(
      job({ parallelism: 1, completions: 5 }),
      jobPod('a', { readyAt: 0 }),
      jobPod('b', { phase: 'Pending' }),
      jobPod('c', { phase: 'Pending', spec: { nodeName: undefined } }),
    );
    await world.settle();
    assert.deepEqual(
      world.running.map(({ metadata }) => metadata.name),
      ['a'],
    );
    assert.equal(world.job.status?.terminating, 2);
    for (const one of world.pods) if (one.metadata.deletionTimestamp) world.remove(one);
    await world.settle();
    assert.deepEqual([world.job.status?.failed, world.job.status?.active], [undefined, 1]);
  });

  it('creates and counts at most 500 at once', async () => {
    const world = new JobWorld(job({ parallelism: 1200, completions: 1200 }));
    await world.reconcile(key);
    assert.equal(world.pods.length, 500);
    await world.settle();
    assert.equal(world.pods.length, 1200);
    for (const one of world.pods) world.end(one, 'Succeeded');
    world.showAll();
    await world.reconcile(key);
    assert.deepEqual([world.job.status?.succeeded, world.conditions.length], [500, 1]);
    await world.settle();
    assert.equal(world.job.status?.succeeded, 1200);
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
  });

  it('reports more succeeded pods than completions', async () => {
    const world = new JobWorld(
      job({ completions: 1 }),
      jobPod('a', { phase: 'Succeeded' }),
      jobPod('b', { phase: 'Succeeded' }),
    );
    await world.settle();
    assert.deepEqual(world.news, [
      'Warning TooManySucceededPods work: Too many succeeded pods running after completion count reached',
      'Normal Completed work: Job completed',
    ]);
  });
});
