/**
 * The controller of CronJobs: the times at which it creates Jobs, and its actions while the last Job runs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../../src/controller-runtime/observed-writes.ts';
import { at, start } from '../../objects.ts';
import { CronWorld, cronJob, key, listed, minute, nameAt, ofIt, owners } from './cron-world.ts';

describe('a CronJob', () => {
  it('creates nothing before its time, and is scheduled shortly after it', async () => {
    const world = new CronWorld(cronJob());
    assert.equal(await world.after(20), 40_100);
    assert.deepEqual(world.names(jobResource), []);
  });

  it('creates a Job from its template at the scheduled time, once', async () => {
    const world = new CronWorld(cronJob({ timeZone: 'Europe/Berlin' }));
    assert.equal(await world.after(minute + 0.1), 60_000);
    const [one, ...more] = world.all(jobResource);
    assert.deepEqual([one?.metadata.name, more], [nameAt(minute), []]);
    assert.deepEqual(one?.metadata.labels, { app: 'tick' });
    assert.deepEqual([one.apiVersion, one.kind], ['batch/v1', 'Job']);
    assert.deepEqual(one.metadata.annotations, {
      note: 'x',
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T01:01:00+01:00',
    });
    assert.deepEqual(one.metadata.ownerReferences, owners);
    assert.deepEqual([world.active, world.status?.lastScheduleTime], [[nameAt(minute)], at(minute)]);
    assert.deepEqual(world.told, [`Normal SuccessfulCreate tick: Created job ${nameAt(minute)}`]);
    await world.after(1);
    assert.equal(world.names(jobResource).length, 1);
    await world.after(minute);
    assert.deepEqual(world.names(jobResource), [nameAt(minute), nameAt(2 * minute)]);
  });

  it('decides nothing while its cache does not show the Job, or its own status', async () => {
    for (const shown of [jobResource, cronJobResource]) {
      const world = new CronWorld(cronJob());
      await world.after(minute);
      world.sync(shown as typeof jobResource);
      assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    }
  });

  it('replaces many missed times by the last of them, and warns when they are very many', async () => {
    for (const [minutes, warns] of [
      [90, false],
      [200, true],
    ] as const) {
      const world = new CronWorld(cronJob());
      await world.after(minutes * minute + 30);
      assert.deepEqual(world.names(jobResource), [nameAt(minutes * minute)]);
      const warning =
        'Warning TooManyMissedTimes tick: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      assert.equal(world.told.includes(warning), warns);
    }
  });

  it('creates no Job after its starting deadline', async () => {
    const world = new CronWorld(cronJob({ schedule: '0 * * * *', startingDeadlineSeconds: 600 }));
    assert.equal(await world.after(3600 + 601), 3_600_000 - 601_000 + 100);
    assert.deepEqual(world.names(jobResource), []);
    await world.after(3600 - 1);
    assert.deepEqual(world.names(jobResource), [nameAt(7200)]);
  });

  it('reports each missed time once', async () => {
    const late = new CronWorld(cronJob({ schedule: '0 * * * *', startingDeadlineSeconds: 600 }));
    const told = (time: string) =>
      `Warning MissSchedule tick: Missed scheduled time to start a job: ${time.replace('GMT', '+0000')}`;
    await late.after(3600 + 601);
    await late.after(60);
    await late.after(60);
    assert.deepEqual(late.told, [told(new Date(start + 3_600_000).toUTCString())]);
    // There was no event yet for another CronJob of the same name.
    const { metadata, ...later } = cronJob({ schedule: '0 * * * *', startingDeadlineSeconds: 600 });
    late.put(cronJobResource, { ...later, metadata: { ...metadata, uid: 'later' } });
    await late.after(60);
    assert.equal(late.told.length, 2);
    const never = new CronWorld(cronJob({ startingDeadlineSeconds: 0 }));
    for (let count = 0; count < 3; count++) await never.after(minute + 0.1);
    assert.deepEqual(never.names(jobResource), []);
    assert.equal(never.told.filter((line) => line.includes('MissSchedule')).length, 3);
    assert.match(never.told.join(), / \+0000,/);
  });

  it('creates nothing while suspended, and afterwards the last missed Job', async () => {
    const world = new CronWorld(cronJob({ suspend: true }));
    assert.equal(await world.after(10 * minute), undefined);
    world.put(cronJobResource, cronJob());
    await world.after(0);
    assert.deepEqual(world.names(jobResource), [nameAt(10 * minute)]);
  });

  it('with a changed schedule does not start Jobs for past times of the new schedule', async () => {
    const world = new CronWorld(cronJob({ schedule: '0 12 * * *' }));
    await world.after(2 * minute + 10);
    world.put(cronJobResource, cronJob({ schedule: '1 0 * * *' }));
    assert.equal(await world.after(0), (24 * 60 - 1) * minute * 1000 - 10_000 + 100);
    assert.deepEqual(world.names(jobResource), []);
  });

  it('with a changed time zone does not start Jobs for past times of the new zone', async () => {
    const world = new CronWorld(cronJob({ schedule: '1 12 * * *', timeZone: 'Etc/UTC' }));
    await world.after(2 * minute + 10);
    // The time was a minute ago at twelve hours east of UTC.
    world.put(cronJobResource, cronJob({ schedule: '1 12 * * *', timeZone: 'Etc/GMT-12' }));
    assert.equal(await world.after(0), (24 * 60 - 1) * minute * 1000 - 10_000 + 100);
    assert.deepEqual(world.names(jobResource), []);
  });

  it('reports that a schedule is never due', async () => {
    const world = new CronWorld(cronJob({ schedule: '0 0 31 2 *' }));
    assert.equal(await world.after(minute), undefined);
    assert.deepEqual(world.told, [
      'Warning InvalidSchedule tick: invalid schedule: 0 0 31 2 * : it is never due',
    ]);
  });

  it('with an invalid stored schedule or time zone starts no Job and gets a warning event', async () => {
    for (const [spec, reason] of [
      [{ schedule: 'x' }, 'UnparseableSchedule'],
      [{ timeZone: 'Nowhere/Land' }, 'UnknownTimeZone'],
    ] as const) {
      const world = new CronWorld(cronJob(spec));
      assert.equal(await world.after(minute), undefined);
      assert.match(world.told.join(), new RegExp(`^Warning ${reason} tick: `));
      const beside = new CronWorld(cronJob(spec), ofIt('by-hand', 1));
      await beside.after(minute);
      assert.deepEqual(
        beside.told.map((told) => told.split(' ')[1]),
        ['UnexpectedJob', reason],
      );
    }
  });
});

describe('a CronJob whose last Job still runs', () => {
  it('with Forbid creates no Job, reports that, and creates one when the running Job has ended', async () => {
    const world = new CronWorld(cronJob({ concurrencyPolicy: 'Forbid' }, listed('old')), ofIt('old', minute));
    await world.after(2 * minute);
    assert.deepEqual(world.names(jobResource), ['old']);
    assert.match(
      world.told.join(),
      /^Normal JobAlreadyActive tick: Not starting job because prior execution/,
    );
    world.end('old', 'Complete');
    await world.after(1);
    assert.deepEqual(world.active, [nameAt(2 * minute)]);
  });

  it('with Replace removes the running Job first', async () => {
    const world = new CronWorld(
      cronJob({ concurrencyPolicy: 'Replace' }, listed('old')),
      ofIt('old', minute),
    );
    await world.after(2 * minute);
    assert.deepEqual(world.names(jobResource), [nameAt(2 * minute)]);
    assert.deepEqual(world.active, [nameAt(2 * minute)]);
    assert.ok(world.told.includes('Normal SuccessfulDelete tick: Deleted job old'));
  });

  it('with Replace creates no Job if the old one cannot be removed', async () => {
    const world = new CronWorld(
      cronJob({ concurrencyPolicy: 'Replace' }, listed('old')),
      ofIt('old', minute),
    );
    world.refuse = (verb) => (verb === 'delete' ? newInternalError('no') : undefined);
    await assert.rejects(world.after(2 * minute), /no/);
    assert.deepEqual([world.names(jobResource), world.active], [['old'], ['old']]);
  });

  it('with Replace removes no newer Job of the same name, and retries', async () => {
    const world = new CronWorld(
      cronJob({ concurrencyPolicy: 'Replace' }, listed('old')),
      ofIt('old', minute),
    );
    const { metadata, ...one } = ofIt('old', minute);
    world.refuse = (verb, name) => {
      if (verb === 'delete' && name === 'old')
        world.store(jobResource, { ...one, metadata: { ...metadata, uid: 'later' } });
      return undefined;
    };
    await assert.rejects(world.after(2 * minute), /another by now/);
    assert.deepEqual(world.names(jobResource), ['old']);
  });

  it('with Allow creates another Job in parallel', async () => {
    const world = new CronWorld(cronJob({}, listed('old')), ofIt('old', minute));
    await world.after(2 * minute);
    assert.deepEqual(world.active, ['old', nameAt(2 * minute)]);
  });
});
