/** Metrics of SlurmJobs on /metrics/objects. Pure. */
import {
  gauge,
  info,
  objectMetrics,
  seconds,
  states,
} from '../../../kube-apiserver/object-metrics/family.ts';
import { created, namespaced } from '../../../kube-apiserver/object-metrics/metadata-families.ts';
import { type SlurmJob, slurmJobResource, slurmPhases } from '../api/slurm-job.ts';

export const slurmJobs = objectMetrics<SlurmJob>({
  ref: slurmJobResource,
  labelsOf: namespaced('slurm_job'),
  families: [
    info('minik8s_slurm_job_info', 'The number of the job in Slurm.', ({ status }) => ({
      job_id: status?.jobID ?? '',
    })),
    created('minik8s_slurm_job'),
    states(
      'minik8s_slurm_job_status_phase',
      'The phase of the job.',
      'phase',
      slurmPhases,
      ({ status }) => status?.phase,
    ),
    gauge(
      'minik8s_slurm_job_status_submit_time',
      'Time at which Slurm accepted the job, in seconds since the epoch.',
      ({ status }) => seconds(status?.submitTime),
    ),
    gauge(
      'minik8s_slurm_job_status_start_time',
      'Time at which Slurm started the job, in seconds since the epoch.',
      ({ status }) => seconds(status?.startTime),
    ),
    gauge(
      'minik8s_slurm_job_status_end_time',
      'Time at which the job ended in Slurm, in seconds since the epoch.',
      ({ status }) => seconds(status?.endTime),
    ),
    gauge(
      'minik8s_slurm_job_status_exit_code',
      'The exit code of the job.',
      ({ status }) => status?.exitCode,
    ),
  ],
});
