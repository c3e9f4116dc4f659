/** Builds the Job that a CronJob creates by its schedule. Pure. */
import { type CronJob, cronJobResource } from '../../../api/batch/v1/cron-job.ts';
import type { Job } from '../../../api/batch/v1/job.ts';
import { inTimeZone } from '../../../api/batch/v1/schedule-times.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import { jobName } from './cron-job-plan.ts';

const scheduledKey = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Returns the Job. `at` is the scheduled time in milliseconds. */
export function scheduledJob(cronJob: CronJob, at: number): Draft<Job> {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec;
  const { labels, annotations } = jobTemplate.metadata;
  return deepCopy({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cronJob, at),
      namespace: cronJob.metadata.namespace,
      labels,
      annotations: { ...annotations, [scheduledKey]: inTimeZone(at, timeZone) },
      ownerReferences: [controllerReference(cronJobResource, cronJob)],
    },
    spec: jobTemplate.spec,
  });
}
