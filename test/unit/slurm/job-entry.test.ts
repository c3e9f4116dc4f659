/** After which jobs Slurm is asked. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { JobEntry } from '../../../src/slurm/job-entry.ts';
import type { SlurmJob, SlurmJobStatus } from '../../../src/slurm/slurm-job.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

it('those that it has, of which the folder is known, until they end or are deleted', () => {
  const followed = (status: Partial<SlurmJobStatus>, deleting = false) => {
    const whole = {
      phase: 'Running',
      acceptedTime: '',
      jobID: '1',
      workDir: '/w',
      ...status,
    } as SlurmJobStatus;
    const job: SlurmJob = { ...{ namespace: 'a', name: 'b', uid: 'c', spec: {} }, status: whole, deleting };
    return new JobEntry(job, 0, new SeededRandom(1)).followed;
  };
  assert.ok(followed({}) && followed({ phase: 'Submitted' }));
  assert.ok(!followed({}, true) && !followed({ phase: 'Fetching' }) && !followed({ phase: 'Failed' }));
  assert.ok(!followed({ jobID: undefined }) && !followed({ workDir: undefined }));
});
