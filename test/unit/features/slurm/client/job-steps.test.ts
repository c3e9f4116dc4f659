/** Status writes that a client records for a job, where some of them fail. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { JobEntry } from '../../../../../src/features/slurm/client/job-entry.ts';
import { JobFiles } from '../../../../../src/features/slurm/client/job-files.ts';
import { JobSteps } from '../../../../../src/features/slurm/client/job-steps.ts';
import type { LoginHost } from '../../../../../src/features/slurm/client/login-host.ts';
import { NotWritten } from '../../../../../src/features/slurm/client/step-problem.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { MemoryStore } from '../../../../fixtures/slurm/memory-store.ts';

it('a status whose write failed is written by the next flush, and a written status is not written again', async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const uid = store.add('one', { run: ['true'] });
  const host = { run: () => Promise.reject(new Error('nothing is run')) } as unknown as LoginHost;
  const steps = new JobSteps({ host, store, files: new JobFiles(host, store), clock, settleSeconds: 1 });
  const entry = new JobEntry(store.get(uid), clock.now(), new SeededRandom(1));
  const status = { ...entry.status, jobID: '7' };
  store.onWrite = () => {
    throw new Error('away');
  };
  await assert.rejects(steps.write(entry, status), (error) => error instanceof NotWritten);
  assert.equal(store.status(uid), undefined);
  store.onWrite = () => undefined;
  await steps.flush(entry);
  assert.deepEqual(store.status(uid), status);
  await steps.flush(entry);
  assert.equal(store.history.get(uid)?.length, 1);
});

it('a status that the cluster has already is not written when a client takes a job over', async () => {
  const store = new MemoryStore();
  const uid = store.add('one', { run: ['true'] });
  store.change(uid, { status: { phase: 'Waiting', acceptedTime: '2026-01-01T00:00:00Z' } });
  const host = {} as unknown as LoginHost;
  const clock = new FakeClock();
  const steps = new JobSteps({ host, store, files: new JobFiles(host, store), clock, settleSeconds: 1 });
  const entry = new JobEntry(store.get(uid), clock.now(), new SeededRandom(1));
  await steps.flush(entry);
  assert.equal(store.history.get(uid), undefined);
});
