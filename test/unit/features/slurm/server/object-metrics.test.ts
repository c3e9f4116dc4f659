import { slurmPhases } from '../../../../../src/features/slurm/api/slurm-job.ts';
import { slurmJobs } from '../../../../../src/features/slurm/server/object-metrics.ts';
import { describeSamples, explains, names } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('SlurmJobs', slurmJobs, 'minik8s_slurm_job', [
  ['info', {}, 'job_id="" 1'],
  ['info', { status: { jobID: '7' } }, 'job_id="7" 1'],
  ['created', {}, '1767225600'],
  [
    'status_submit_time',
    {
      status: {
        submitTime: '2026-01-01T00:00:01Z',
        startTime: '2026-01-01T00:00:02Z',
        endTime: '2026-01-01T00:00:03Z',
      },
    },
    '1767225601',
  ],
  [
    'status_start_time',
    {
      status: {
        submitTime: '2026-01-01T00:00:01Z',
        startTime: '2026-01-01T00:00:02Z',
        endTime: '2026-01-01T00:00:03Z',
      },
    },
    '1767225602',
  ],
  [
    'status_end_time',
    {
      status: {
        submitTime: '2026-01-01T00:00:01Z',
        startTime: '2026-01-01T00:00:02Z',
        endTime: '2026-01-01T00:00:03Z',
      },
    },
    '1767225603',
  ],
  ['status_end_time', {}],
  ['status_phase', {}],
  [
    'status_phase',
    { status: { phase: 'Running' } },
    ...slurmPhases.map((phase) => `phase="${phase}" ${phase === 'Running' ? 1 : 0}`),
  ],
  ['status_exit_code', { status: { exitCode: 0 } }, '0'],
  ['status_exit_code', { status: {} }],
]);

explains('SlurmJobs', slurmJobs);
names(slurmJobs, 'namespace="ns",slurm_job="a"');
