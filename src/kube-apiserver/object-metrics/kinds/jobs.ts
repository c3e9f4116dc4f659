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
    info('kube_job_info', 'The Jobs that there are.', () => ({})),
    created('kube_job'),
    owner('kube_job'),
    gauge('kube_job_spec_parallelism', 'How many pods may run at once.', ({ spec }) => spec.parallelism),
    gauge('kube_job_spec_completions', 'How many pods have to succeed.', ({ spec }) => spec.completions),
    gauge(
      'kube_job_spec_active_deadline_seconds',
      'How many seconds the Job may take.',
      ({ spec }) => spec.activeDeadlineSeconds,
    ),
    gauge('kube_job_status_active', 'How many pods are at work.', ({ status }) => status?.active ?? 0),
    gauge('kube_job_status_ready', 'How many pods are ready.', ({ status }) => status?.ready ?? 0),
    gauge(
      'kube_job_status_succeeded',
      'How many pods have succeeded.',
      ({ status }) => status?.succeeded ?? 0,
    ),
    gauges('kube_job_status_failed', 'Pods that have failed, and why the Job has.', failures),
    statusOf(
      'kube_job_complete',
      'Whether the Job is complete.',
      'Complete',
      ({ status }) => status?.conditions,
    ),
    statusOf('kube_job_failed', 'Whether the Job has failed.', 'Failed', ({ status }) => status?.conditions),
    gauge('kube_job_status_start_time', 'When the Job began, in seconds since the epoch.', ({ status }) =>
      seconds(status?.startTime),
    ),
    gauge(
      'kube_job_status_completion_time',
      'When the Job was complete, in seconds since the epoch.',
      ({ status }) => seconds(status?.completionTime),
    ),
    gauge('kube_job_status_suspended', 'Whether the Job is suspended.', ({ status }) => {
      const suspended = status?.conditions?.find(({ type }) => type === 'Suspended');
      return suspended && suspended.status === 'True';
    }),
  ],
});
