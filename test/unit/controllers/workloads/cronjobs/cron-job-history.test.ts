/** The Jobs of a CronJob: its status, and the history that is kept. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { at, meta } from '../../objects.ts';
import { job } from '../jobs/job-world.ts';
import { CronWorld, cronJob, key, listed, minute, nameAt, ofIt } from './cron-world.ts';

describe('the Jobs of a CronJob', () => {
  it('are listed until they end; the last success is recorded', async () => {
    const world = new CronWorld(
      cronJob({ schedule: '0 0 1 1 *' }, listed('a', 'b', 'c')),
      ofIt('a', 60, 'Complete'),
      ofIt('b', 70, 'Failed'),
      ofIt('c', 80),
    );
    await world.after(90);
    assert.deepEqual([world.active, world.status?.lastSuccessfulTime], [['c'], at(65)]);
    assert.equal(world.status?.lastScheduleTime, at(minute));
    assert.deepEqual(world.told, [
      'Normal SawCompletedJob tick: Saw completed job: a, condition: Complete',
      'Normal SawCompletedJob tick: Saw completed job: b, condition: Failed',
    ]);
  });

  it('are kept up to the history limits, and the oldest are deleted first', async () => {
    const spec = { schedule: '0 0 1 1 *', successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 0 };
    const world = new CronWorld(
      cronJob(spec),
      ofIt('c', 30, 'Complete'),
      ofIt('a', 40, 'Complete'),
      ofIt('b', 50, 'Complete'),
      ofIt('d', 60, 'Failed'),
      ofIt('e', 1),
    );
    await world.after(90);
    assert.deepEqual(world.names(jobResource), ['a', 'b', 'e']);
    // A Job that is already being deleted is not removed again.
    const going = ofIt('0', 1, 'Complete');
    world.put(jobResource, { ...going, metadata: { ...going.metadata, deletionTimestamp: at(60) } });
    const asked = world.asked.length;
    await world.after(1);
    assert.deepEqual(world.asked.slice(asked), []);
  });

  it('do not delay the next Job if their deletion fails, and are deleted later', async () => {
    const world = new CronWorld(cronJob({ failedJobsHistoryLimit: 0 }), ofIt('a', 30, 'Failed'));
    world.refuse = (verb) => (verb === 'delete' ? newInternalError('no') : undefined);
    await assert.rejects(world.after(minute), /no/);
    assert.deepEqual(world.names(jobResource), ['a', nameAt(minute)]);
    assert.deepEqual(world.active, [nameAt(minute)]);
    world.refuse = () => undefined;
    await world.after(1);
    assert.deepEqual(world.names(jobResource), [nameAt(minute)]);
  });

  it('are only the Jobs in its namespace', async () => {
    const foreign = [1, 2, 3, 4].map((one) => {
      const { metadata, ...rest } = ofIt(`foreign-${one}`, one * minute, 'Complete');
      return { ...rest, metadata: { ...metadata, namespace: 'other' } };
    });
    const world = new CronWorld(cronJob({ suspend: true }), ofIt('own', 0, 'Complete'), ...foreign);
    await world.reconcile(key);
    assert.deepEqual(
      world.all(jobResource).filter(({ metadata }) => metadata.deletionTimestamp),
      [],
    );
    assert.equal(world.names(jobResource).length, 5);
    assert.equal(world.status?.lastSuccessfulTime, at(5));
  });

  it('are removed from the status when they are deleted, but not if only the cache lacks them', async () => {
    const world = new CronWorld(cronJob({ schedule: '0 0 1 1 *' }, listed('gone', 'new')));
    world.store(jobResource, ofIt('new', 1));
    await world.clock.advance(1000);
    await world.reconcile(key);
    assert.deepEqual(world.active, ['new']);
    assert.deepEqual(world.told, ['Normal MissingJob tick: Active job went missing: gone']);
  });

  it('are only the Jobs that it owns: other Jobs in its status are neither deleted nor replaced', async () => {
    for (const concurrencyPolicy of ['Replace', 'Forbid'] as const) {
      const status = listed('orphan', 'foreign');
      const [, foreign] = status?.active ?? [];
      Object.assign(foreign ?? {}, { namespace: 'other' });
      const world = new CronWorld(cronJob({ concurrencyPolicy }, status));
      world.put(jobResource, { ...job(), metadata: meta('orphan') });
      world.put(jobResource, { ...job(), metadata: meta('foreign', { namespace: 'other' }) });
      await world.after(2 * minute);
      assert.deepEqual(world.names(jobResource), ['orphan', nameAt(2 * minute), 'foreign']);
      assert.deepEqual(world.active, [nameAt(2 * minute)]);
    }
  });

  it('that the controller did not create get a warning event and are not changed', async () => {
    const world = new CronWorld(cronJob({ schedule: '0 0 1 1 *' }), ofIt('by-hand', 1));
    await world.after(90);
    assert.deepEqual([world.active, world.names(jobResource)], [[], ['by-hand']]);
    assert.match(world.told.join(), /^Warning UnexpectedJob tick: .*: by-hand$/);
  });

  it('that were created before a restart of the controller are listed and not created twice', async () => {
    const world = new CronWorld(cronJob());
    world.refuse = (verb) => (verb === 'updateStatus' ? newInternalError('the process ends') : undefined);
    await assert.rejects(world.after(minute));
    const next = new CronWorld(cronJob(), ...world.all(jobResource));
    await next.after(minute);
    assert.deepEqual([next.names(jobResource), next.active], [[nameAt(minute)], [nameAt(minute)]]);
  });

  it('are not created if a Job of another owner has the name', async () => {
    const other = { ...ofIt(nameAt(minute), 0), metadata: meta(nameAt(minute)) };
    const world = new CronWorld(cronJob(), other);
    await world.after(minute);
    assert.deepEqual([world.active, world.status?.lastScheduleTime], [[], undefined]);
  });

  it('cause a warning event if their creation fails, and are created later', async () => {
    const world = new CronWorld(cronJob());
    world.refuse = (verb) => (verb === 'create' ? newInternalError('no') : undefined);
    await assert.rejects(world.after(minute), /no/);
    assert.match(world.told.join(), /Warning FailedCreate tick: Error creating job: .*no$/);
    world.refuse = () => undefined;
    await world.after(0);
    assert.deepEqual(world.active, [nameAt(minute)]);
  });

  it('cause a reconciliation of the CronJob that owns them', () => {
    const world = new CronWorld(cronJob());
    assert.deepEqual(world.keysOf(jobResource, ofIt('a', 1)), [key]);
    assert.deepEqual(world.keysOf(jobResource, job()), []);
  });
});
