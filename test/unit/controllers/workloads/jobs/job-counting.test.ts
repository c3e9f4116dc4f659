/** Each pod is counted once, in spite of interruptions and a cache that lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import { newInternalError, newNotFound } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { isTracked } from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { at } from '../../objects.ts';
import { JobWorld, job, jobPod, key } from './job-world.ts';

const ended = (index?: number) => [
  jobPod('a', { phase: 'Succeeded', ...(index === undefined ? {} : { index: 0 }) }),
  jobPod('b', { phase: 'Failed', exitCode: 1, ...(index === undefined ? {} : { index: 1 }) }),
  jobPod('c', { phase: 'Succeeded', ...(index === undefined ? {} : { index: 2 }) }),
];

/** Returns the same server with a controller that has just started, and an up-to-date cache. */
const restarted = (before: JobWorld) =>
  new JobWorld(deepCopy(before.job), ...before.pods.map((pod) => deepCopy(pod)));

const trackedOf = (world: JobWorld) =>
  world.pods.filter(isTracked).flatMap(({ metadata: { uid } }) => uid.match(/^uid-([abc])$/)?.[1] ?? []);

describe('counting the pods of a Job', () => {
  for (const completionMode of ['NonIndexed', 'Indexed'] as const) {
    const spec: Partial<Job['spec']> = { completionMode, parallelism: 3, completions: 4, backoffLimit: 9 };
    const pods = () => ended(completionMode === 'Indexed' ? 0 : undefined);

    it(`has the same result in the mode ${completionMode} if the controller ends before any request and restarts`, async () => {
      const whole = new JobWorld(job(spec), ...pods());
      await whole.settle();
      const requests = whole.asked.length;
      assert.ok(requests >= 5);
      for (let stop = 0; stop < requests; stop++) {
        const world = new JobWorld(job(spec), ...pods());
        let left = stop;
        world.refuse = () => (left-- > 0 ? undefined : newInternalError('the process ends'));
        for (let turns = 0; turns < 3; turns++) {
          world.showAll();
          await world.reconcile(key).catch(() => undefined);
        }
        const next = restarted(world);
        await next.settle();
        assert.deepEqual(
          [next.job.status?.succeeded, next.job.status?.failed, next.job.status?.uncountedTerminatedPods],
          [2, 1, {}],
          `ended before request ${stop}`,
        );
        assert.deepEqual(trackedOf(next), []);
      }
    });

    it(`has the same result in the mode ${completionMode} if single requests fail in the same process`, async () => {
      for (let failing = 0; failing < 12; failing++) {
        const world = new JobWorld(job(spec), ...pods());
        let count = 0;
        world.refuse = () => (count++ === failing ? newInternalError('once') : undefined);
        for (let turns = 0; turns < 4; turns++) {
          world.showAll();
          await world.reconcile(key).catch(() => undefined);
        }
        await world.clock.advance(10_000);
        await world.settle();
        assert.deepEqual(
          [world.job.status?.succeeded, world.job.status?.failed],
          [2, 1],
          `request ${failing}`,
        );
        assert.equal(world.running.length, 2, `request ${failing}`);
      }
    });
  }

  it('decides nothing while the cache lags behind its own writes, of the Job or of a pod', async () => {
    for (const shown of [jobResource, podResource]) {
      const world = new JobWorld(job({ completions: 9 }), ...ended());
      await world.reconcile(key);
      const asked = world.asked.length;
      world.sync(shown as typeof podResource);
      assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
      assert.equal(world.asked.length, asked);
    }
  });

  it('does not count a deleted pod again, while the cache shows it unchanged', async () => {
    const world = new JobWorld(job(), jobPod('b', { phase: 'Failed' }));
    await world.reconcile(key);
    world.sync(jobResource);
    world.take(podResource, 'default/b');
    for (let turns = 0; turns < 3; turns++) {
      await world.clock.advance(verifyAfter);
      assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    }
    await world.settle();
    assert.equal(world.job.status?.failed, 1);
  });

  it('counts a pod in the status that was deleted in the meantime', async () => {
    const world = new JobWorld(
      job(
        { completions: 3 },
        { succeeded: 1, uncountedTerminatedPods: { succeeded: ['uid-gone'], failed: ['uid-lost'] } },
      ),
    );
    await world.settle();
    assert.deepEqual([world.job.status?.succeeded, world.job.status?.failed], [2, 1]);
  });

  it('releases no pod before the status with its name is stored', async () => {
    const world = new JobWorld(job({ completions: 3 }), ...ended());
    world.refuse = (verb) => (verb === 'updateStatus' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(trackedOf(world), ['a', 'b', 'c']);
  });

  it('counts the released pods if the release of others fails', async () => {
    const world = new JobWorld(job({ completions: 3, parallelism: 1 }), ...ended());
    world.refuse = (verb, name) => (verb === 'patch' && name === 'c' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(world.job.status?.uncountedTerminatedPods, { succeeded: ['uid-c'] });
    assert.deepEqual([world.job.status?.succeeded, world.job.status?.failed], [1, 1]);
    world.refuse = () => undefined;
    await world.settle();
    assert.equal(world.job.status?.succeeded, 2);
  });

  it('ends without an error if the Job is deleted in the meantime', async () => {
    const world = new JobWorld(job(), ...ended());
    world.refuse = (verb, name) => (verb === 'updateStatus' ? newNotFound(jobResource, name) : undefined);
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(trackedOf(world), ['a', 'b', 'c'], 'they are left to those who look after orphans');
  });

  it('does nothing for a Job that has finished', async () => {
    const world = new JobWorld(job({}, { conditions: [{ type: 'Complete', status: 'True' }] }), jobPod('a'));
    await world.settle();
    assert.deepEqual(world.asked, []);
  });
});

describe('an ending that an earlier process has begun', () => {
  const begun = (type: string, status: 'True' | 'False' = 'True') =>
    new JobWorld(
      job(
        { completions: 3, parallelism: 3 },
        {
          startTime: at(0),
          conditions: [
            { type, status, reason: 'AsSaid', message: 'as it was said', lastTransitionTime: at(0) },
          ],
        },
      ),
    );
  for (const [interim, type] of [
    ['SuccessCriteriaMet', 'Complete'],
    ['FailureTarget', 'Failed'],
  ] as const) {
    it(`by ${interim} makes the Job ${type} with the reason of that process`, async () => {
      const world = begun(interim);
      await world.settle();
      const { conditions, completionTime } = world.job.status ?? {};
      const { reason, message } = conditions?.find((one) => one.type === type) ?? {};
      assert.deepEqual([reason, message], ['AsSaid', 'as it was said']);
      assert.deepEqual([conditions?.length, world.pods], [2, []]);
      assert.equal(completionTime !== undefined, type === 'Complete');
    });

    it(`by ${interim} with the status False has no effect`, async () => {
      const world = begun(interim, 'False');
      await world.settle();
      assert.equal(world.running.length, 3);
      assert.deepEqual(
        world.job.status?.conditions?.map((one) => one.type),
        [interim],
      );
    });
  }
});
