/** Jobs. */
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { statusOf } from '../condition-samples.ts';
import { gauge, gauges, info, objectMetrics, seconds } from '../family.ts';
import { created, namespaced, owner } from '../metadata-families.ts';

const failureReasons = ['BackoffLimitExceeded', 'DeadlineExceeded', 'Evicted'];

/** Returns 1 and 0 for known reasons; the number of failed pods if the reason is unknown. */
function failures({ status }: Job) {
  const { failed = 0, conditions = [] } = status ?? {};
  if (failed === 0) return [{ value: 0 }];
  const reasons = conditions.filter(({ type }) => type === 'Failed').map(({ reason }) => reason);
  const known = reasons.flatMap((held) =>
    failureReasons.map((reason) => ({ labels: { reason }, value: Number(reason === held) })),
  );
  const isKnown = reasons.some((reason) => failureReasons.includes(reason ?? ''));
  return isKnown ? known : [...known, { labels: { reason: '' }, value: failed }];
}

export const jobs = objectMetrics<Job>({
  ref: jobResource,
  labelsOf: namespaced('job_name'),
  families: [
    info('kube_job_info', 'Information about the Job.', () => ({})),
    created('kube_job'),
    owner('kube_job'),
    gauge(
      'kube_job_spec_parallelism',
      'Maximum number of pods that run at once.',
      ({ spec }) => spec.parallelism,
    ),
    gauge('kube_job_spec_completions', 'Number of pods that must succeed.', ({ spec }) => spec.completions),
    gauge(
      'kube_job_spec_active_deadline_seconds',
      'Active deadline of the Job, in seconds.',
      ({ spec }) => spec.activeDeadlineSeconds,
    ),
    gauge('kube_job_status_active', 'Number of active pods.', ({ status }) => status?.active ?? 0),
    gauge('kube_job_status_ready', 'Number of ready pods.', ({ status }) => status?.ready ?? 0),
    gauge('kube_job_status_succeeded', 'Number of succeeded pods.', ({ status }) => status?.succeeded ?? 0),
    gauges('kube_job_status_failed', 'Number of failed pods, with the reason of the failed Job.', failures),
    statusOf(
      'kube_job_complete',
      'Whether the Job is complete.',
      'Complete',
      ({ status }) => status?.conditions,
    ),
    statusOf('kube_job_failed', 'Whether the Job has failed.', 'Failed', ({ status }) => status?.conditions),
    gauge('kube_job_status_start_time', 'Start time of the Job, in seconds since the epoch.', ({ status }) =>
      seconds(status?.startTime),
    ),
    gauge(
      'kube_job_status_completion_time',
      'Completion time of the Job, in seconds since the epoch.',
      ({ status }) => seconds(status?.completionTime),
    ),
    gauge('kube_job_status_suspended', 'Whether the Job is suspended.', ({ status }) => {
      const suspended = status?.conditions?.find(({ type }) => type === 'Suspended');
      return suspended && suspended.status === 'True';
    }),
  ],
});
