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
    info(
      'kube_cronjob_info',
      'When the CronJob is due, and what is done when a Job still runs.',
      ({ spec }) => ({
        schedule: spec.schedule,
        concurrency_policy: spec.concurrencyPolicy,
        timezone: spec.timeZone ?? 'local',
      }),
    ),
    created('kube_cronjob'),
    resourceVersion('kube_cronjob'),
    gauge('kube_cronjob_status_active', 'How many Jobs run.', ({ status }) => status?.active?.length ?? 0),
    gauge(
      'kube_cronjob_status_last_schedule_time',
      'When a Job was made last, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastScheduleTime),
    ),
    gauge(
      'kube_cronjob_status_last_successful_time',
      'When a Job succeeded last, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastSuccessfulTime),
    ),
    gauge('kube_cronjob_spec_suspend', 'Whether no Jobs are made.', ({ spec }) => spec.suspend),
    gauge(
      'kube_cronjob_spec_starting_deadline_seconds',
      'For how many seconds a Job may be late.',
      ({ spec }) => spec.startingDeadlineSeconds,
    ),
    gauge(
      'kube_cronjob_spec_successful_job_history_limit',
      'How many Jobs that succeeded are kept.',
      ({ spec }) => spec.successfulJobsHistoryLimit,
    ),
    gauge(
      'kube_cronjob_spec_failed_job_history_limit',
      'How many Jobs that failed are kept.',
      ({ spec }) => spec.failedJobsHistoryLimit,
    ),
    gauge(
      'kube_cronjob_next_schedule_time',
      'The first time after the last Job, or after the creation, when a Job is due, in seconds since the epoch.',
      nextSchedule,
    ),
    gauge('kube_cronjob_schedule_invalid', 'Told of a schedule that cannot be read: 1.', (cronJob) =>
      scheduleOf(cronJob) ? undefined : 1,
    ),
  ],
});
