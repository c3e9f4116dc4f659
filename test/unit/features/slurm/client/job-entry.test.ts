/** Jobs about which Slurm is queried. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { JobEntry } from '../../../../../src/features/slurm/client/job-entry.ts';
import type { SlurmJob, SlurmJobStatus } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

it('a job is followed from its number and folder until it ends or is deleted', () => {
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

it('a new job is Waiting since the client saw it, and another job keeps the status in the cluster', () => {
  const job: SlurmJob = {
    ...{ namespace: 'a', name: 'b', uid: 'c', spec: {} },
    status: undefined,
    deleting: false,
  };
  const now = Date.UTC(2026, 0, 1);
  const { status, written } = new JobEntry(job, now, new SeededRandom(1));
  assert.deepEqual(
    [status, written],
    [{ phase: 'Waiting', acceptedTime: '2026-01-01T00:00:00Z' }, undefined],
  );
  const known: SlurmJobStatus = { phase: 'Running', acceptedTime: '2025-01-01T00:00:00Z' };
  assert.equal(new JobEntry({ ...job, status: known }, now, new SeededRandom(1)).status, known);
});
