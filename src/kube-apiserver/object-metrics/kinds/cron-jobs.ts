/** CronJobs. */
import { type CronJob, cronJobResource } from '../../../api/batch/v1/cron-job.ts';
import { parseSchedule, type Schedule, ScheduleError } from '../../../api/batch/v1/schedule.ts';
import { nextTime } from '../../../api/batch/v1/schedule-times.ts';
import { isTimeZone } from '../../../api/batch/v1/time-zone.ts';
import { gauge, info, objectMetrics, seconds } from '../family.ts';
import { created, namespaced, resourceVersion } from '../metadata-families.ts';

/** Returns the schedule; undefined if it is invalid, or the time zone does not exist. */
function scheduleOf({ spec: { schedule, timeZone } }: CronJob): Schedule | undefined {
  if (timeZone !== undefined && !isTimeZone(timeZone)) return undefined;
  try {
    return parseSchedule(schedule);
  } catch (error) {
    if (error instanceof ScheduleError) return undefined;
    throw error;
  }
}

function nextSchedule(cronJob: CronJob): number | undefined {
  const { metadata, spec, status } = cronJob;
  const schedule = spec.suspend ? undefined : scheduleOf(cronJob);
  if (!schedule) return undefined;
  const last = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp);
  const next = nextTime(schedule, last, spec.timeZone ?? 'UTC');
  return next === undefined ? undefined : Math.floor(next / 1000);
}

export const cronJobs = objectMetrics<CronJob>({
  ref: cronJobResource,
  labelsOf: namespaced('cronjob'),
  families: [
    info('kube_cronjob_info', 'Schedule and concurrency policy of the CronJob.', ({ spec }) => ({
      schedule: spec.schedule,
      concurrency_policy: spec.concurrencyPolicy,
      timezone: spec.timeZone ?? 'local',
    })),
    created('kube_cronjob'),
    resourceVersion('kube_cronjob'),
    gauge(
      'kube_cronjob_status_active',
      'Number of active Jobs.',
      ({ status }) => status?.active?.length ?? 0,
    ),
    gauge(
      'kube_cronjob_status_last_schedule_time',
      'Time at which the last Job was scheduled, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastScheduleTime),
    ),
    gauge(
      'kube_cronjob_status_last_successful_time',
      'Time at which a Job last succeeded, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastSuccessfulTime),
    ),
    gauge('kube_cronjob_spec_suspend', 'Whether the CronJob is suspended.', ({ spec }) => spec.suspend),
    gauge(
      'kube_cronjob_spec_starting_deadline_seconds',
      'Deadline in seconds for starting a missed Job.',
      ({ spec }) => spec.startingDeadlineSeconds,
    ),
    gauge(
      'kube_cronjob_spec_successful_job_history_limit',
      'Number of successful Jobs to keep.',
      ({ spec }) => spec.successfulJobsHistoryLimit,
    ),
    gauge(
      'kube_cronjob_spec_failed_job_history_limit',
      'Number of failed Jobs to keep.',
      ({ spec }) => spec.failedJobsHistoryLimit,
    ),
    gauge(
      'kube_cronjob_next_schedule_time',
      'Next scheduled time after the last Job or the creation, in seconds since the epoch.',
      nextSchedule,
    ),
    gauge(
      'kube_cronjob_schedule_invalid',
      '1 for a schedule that cannot be parsed; absent otherwise.',
      (cronJob) => (scheduleOf(cronJob) ? undefined : 1),
    ),
  ],
});
