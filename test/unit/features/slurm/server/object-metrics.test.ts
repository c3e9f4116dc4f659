import { slurmJobs } from '../../../../../src/features/slurm/server/object-metrics.ts';
import { describeSamples } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('SlurmJobs', slurmJobs, 'minik8s_slurm_job', [
  ['info', {}, 'job_id="" 1'],
  ['status_exit_code', { status: { exitCode: 0 } }, '0'],
  ['status_exit_code', { status: {} }],
]);
