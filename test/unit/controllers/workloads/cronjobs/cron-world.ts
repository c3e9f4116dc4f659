/** A world with one CronJob, and Jobs of it. */
import assert from 'node:assert/strict';
import { type CronJob, cronJobResource } from '../../../../../src/api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { cronJobController } from '../../../../../src/controllers/workloads/cronjobs/cron-job.ts';
import { at, meta, ownedBy, start } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';
import { job } from '../jobs/job-world.ts';

export const key = 'default/tick';

export const owners = [{ ...ownedBy('CronJob', 'tick'), apiVersion: 'batch/v1' }];

export const minute = 60;

export const nameAt = (seconds: number) => `tick-${(start / 1000 + seconds) / 60}`;

export function cronJob(spec: Partial<CronJob['spec']> = {}, status?: CronJob['status']): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: meta('tick'),
    spec: {
      schedule: '* * * * *',
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: {
          name: '',
          uid: '',
          resourceVersion: '',
          creationTimestamp: '',
          labels: { app: 'tick' },
          annotations: { note: 'x' },
        },
        spec: job().spec,
      } as CronJob['spec']['jobTemplate'],
      ...spec,
    },
    ...(status && { status }),
  };
}

/** A Job of the CronJob that began `seconds` after the start and has ended with `end`, if given. */
export function ofIt(name: string, seconds: number, end?: 'Complete' | 'Failed'): Job {
  const one = job();
  const status: Job['status'] = {
    startTime: at(seconds),
    ...(end === 'Complete' && { completionTime: at(seconds + 5) }),
    ...(end && { conditions: [{ type: end, status: 'True' }] }),
  };
  return { ...one, metadata: { ...meta(name), ownerReferences: owners }, status };
}

export const listed = (...names: string[]): CronJob['status'] => ({
  lastScheduleTime: at(minute),
  active: names.map((name) => ({
    kind: 'Job',
    apiVersion: 'batch/v1',
    namespace: 'default',
    name,
    uid: `uid-${name}`,
  })),
});

export class CronWorld extends ScriptedWorld {
  constructor(one: CronJob, ...jobs: readonly Job[]) {
    super(cronJobController);
    this.put(cronJobResource, one);
    for (const each of jobs) this.put(jobResource, each);
  }

  get status() {
    return this.stored(cronJobResource, key)?.status;
  }

  get active() {
    return this.status?.active?.map(({ name }) => name) ?? [];
  }

  /** Advances the time and reconciles with an up-to-date cache; returns the delay of the next call. */
  async after(seconds: number): Promise<number | undefined> {
    await this.clock.advance(seconds * 1000);
    this.sync(jobResource);
    this.sync(cronJobResource);
    return (await this.reconcile(key))?.requeueAfter;
  }

  end(name: string, end: 'Complete' | 'Failed'): void {
    const one = this.stored(jobResource, `default/${name}`);
    assert.ok(one);
    this.store(jobResource, { ...one, status: ofIt(name, (this.clock.now() - start) / 1000, end).status });
  }
}
