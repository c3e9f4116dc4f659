/** CronJobs on a real API server, with its defaults, validation, roles and garbage collector. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CronJob, cronJobResource } from '../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

const draft = (spec: object = {}): Draft<CronJob> =>
  ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'tick', namespace: 'default' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app:1' }] } },
        },
      },
      ...spec,
    },
  }) as unknown as Draft<CronJob>;

describe('CronJobs', () => {
  let cluster: Cluster;
  before(async () => {
    // Nodes send no heartbeats here, and the tests last minutes of clock time.
    cluster = await startCluster({ nodeGracePeriodMs: 3_600_000 });
    await cluster.addNode('n1');
  });
  after(() => cluster.stop());

  it('create a Job each minute, keep the last ones, and are deleted with all of them', async () => {
    cluster.agent.outcome = () => 'Succeeded';
    await cluster.client.resource(cronJobResource).create(draft({ successfulJobsHistoryLimit: 2 }));
    const status = async () => (await cluster.get(cronJobResource, 'tick'))?.status;
    for (let minute = 1; minute <= 4; minute++) {
      const before = (await status())?.lastScheduleTime;
      await cluster.eventually(
        `the Job of minute ${minute} has succeeded`,
        async () => {
          const now = await status();
          return now?.lastScheduleTime !== before && now?.lastSuccessfulTime && !now.active;
        },
        70_000,
      );
    }
    await cluster.eventually('the history is as long as it may be', async () => {
      const jobs = await cluster.list(jobResource, 'default');
      return jobs.length === 2 && jobs.every(({ status }) => status?.succeeded === 1);
    });
    await cluster.client
      .resource(cronJobResource)
      .delete('tick', 'default', { propagationPolicy: 'Background' });
    await cluster.eventually('everything is gone', async () => {
      const [jobs, pods] = [await cluster.list(jobResource), await cluster.list(podResource)];
      return jobs.length + pods.length === 0;
    });
  });

  it('replace the Job that runs when the next is due', async () => {
    cluster.agent.outcome = () => undefined;
    await cluster.client.resource(cronJobResource).create(draft({ concurrencyPolicy: 'Replace' }));
    const uids = new Set<string>();
    await cluster.eventually(
      'three Jobs, one after the other',
      async () => {
        const jobs = await cluster.list(jobResource, 'default');
        const running = jobs.filter(({ metadata }) => !metadata.deletionTimestamp);
        assert.ok(running.length <= 1, 'never two');
        for (const { metadata } of running) uids.add(metadata.uid);
        return uids.size === 3;
      },
      200_000,
    );
  });
});
