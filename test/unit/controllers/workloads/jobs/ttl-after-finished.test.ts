/** Time at which finished Jobs are deleted. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { ttlAfterFinished } from '../../../../../src/controllers/workloads/jobs/ttl-after-finished.ts';
import { at } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { job, key } from './job-world.ts';

const ended = (spec: Partial<Job['spec']>, type = 'Complete', seconds = 0) =>
  job(spec, { conditions: [{ type, status: 'True', lastTransitionTime: at(seconds) }] });

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(ttlAfterFinished);
});

describe('a Job with ttlSecondsAfterFinished', () => {
  for (const type of ['Complete', 'Failed'])
    it(`is deleted in the foreground after its ttlSecondsAfterFinished in the state ${type}`, async () => {
      world.put(jobResource, ended({ ttlSecondsAfterFinished: 30 }, type));
      assert.deepEqual(await world.reconcile(key), { requeueAfter: 30_000 });
      await world.clock.advance(30_000);
      assert.equal(await world.reconcile(key), undefined);
      const { metadata } = world.stored(jobResource, key) ?? {};
      assert.deepEqual(
        [metadata?.deletionTimestamp !== undefined, metadata?.finalizers],
        [true, ['foregroundDeletion']],
      );
    });

  it('is deleted at once with the value 0', async () => {
    world.put(jobResource, ended({ ttlSecondsAfterFinished: 0 }));
    await world.reconcile(key);
    assert.ok(world.stored(jobResource, key)?.metadata.deletionTimestamp);
  });

  it('is kept if the stored object has a longer or no limit than the cached one', async () => {
    world.seen.put(jobResource, ended({ ttlSecondsAfterFinished: 0 }));
    world.store(jobResource, ended({ ttlSecondsAfterFinished: 60 }));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 60_000 });
    world.store(jobResource, ended({}));
    assert.equal(await world.reconcile(key), undefined);
    world.take(jobResource, key);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(world.asked.filter((text) => text.startsWith('delete')).length, 0);
  });

  it('is kept and retried if it changes before the delete', async () => {
    const one = ended({ ttlSecondsAfterFinished: 0 });
    world.put(jobResource, one);
    world.refuse = (verb) => {
      if (verb === 'delete')
        world.store(jobResource, { ...one, metadata: { ...one.metadata, resourceVersion: '2' } });
      return undefined;
    };
    await assert.rejects(world.reconcile(key), /it is another by now/);
    assert.equal(world.stored(jobResource, key)?.metadata.deletionTimestamp, undefined);
  });

  it('is not deleted without a completion time', async () => {
    const one = job({ ttlSecondsAfterFinished: 0 }, { conditions: [{ type: 'Complete', status: 'True' }] });
    world.put(jobResource, one);
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.asked, []);
  });

  it('is enqueued only after it has ended', () => {
    const keys = (one: Job) => world.keysOf(jobResource, one);
    assert.deepEqual(keys(job({ ttlSecondsAfterFinished: 1 })), []);
    assert.deepEqual(keys(ended({})), []);
    assert.deepEqual(keys(ended({ ttlSecondsAfterFinished: 1 })), [key]);
    const gone = ended({ ttlSecondsAfterFinished: 1 });
    assert.deepEqual(keys({ ...gone, metadata: { ...gone.metadata, deletionTimestamp: at(0) } }), []);
  });
});
