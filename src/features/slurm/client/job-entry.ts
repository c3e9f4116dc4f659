/** The client's state of a job. All of it can be restored from the cluster, the host and Slurm. */

import { Backoff } from '../../../base/backoff.ts';
import type { Timer } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Looked, SlurmTask } from './host-answers.ts';
import type { Step } from './job-plan.ts';
import type { SlurmJob, SlurmJobStatus } from './slurm-job.ts';

export const nothingLooked: Looked = { sizes: new Map(), exited: new Map() };

export class JobEntry {
  job: SlurmJob;
  /** Newest status; the status in the cluster may be older. */
  status: SlurmJobStatus;
  /** Status as it was written to the cluster. */
  written: SlurmJobStatus | undefined;
  writing: Promise<void> = Promise.resolve();
  /** Stored bytes of each file, by kind and path; undefined until they were read. */
  stored: Map<string, number> | undefined;
  looked: Looked = nothingLooked;
  /** Last tasks in the queue; undefined until the queue was first queried after the submission. */
  queue: readonly SlurmTask[] | undefined;
  account: readonly SlurmTask[] = [];
  /** Time at which the job was first missing in Slurm. */
  unknownSince: number | undefined;
  forgotten = false;
  /** True if Slurm has answered and the status does not include the answer yet. */
  answered = false;

  step: Step = 'none';
  driving = false;
  again = false;
  stopping = false;
  timer: Timer | undefined;
  deadline: Timer | undefined;
  readonly backoff: Backoff;

  constructor(job: SlurmJob, now: number, random: Random) {
    this.job = job;
    this.status = job.status ?? { phase: 'Waiting', acceptedTime: rfc3339(now) };
    this.written = job.status;
    this.backoff = new Backoff({ initialMs: 1000, maxMs: 60_000 }, random);
  }

  get followed(): boolean {
    const { jobID, workDir, phase } = this.status;
    return (
      jobID !== undefined &&
      workDir !== undefined &&
      (phase === 'Submitted' || phase === 'Running') &&
      !this.job.deleting
    );
  }

  /** Returns the tasks. The queue takes precedence over accounting, which is behind. */
  get tasks(): readonly SlurmTask[] {
    const queue = this.queue ?? [];
    const there = new Set(queue.flatMap(({ tasks }) => tasks ?? [-1]));
    return [
      ...queue,
      ...this.account.filter(({ tasks }) => !(tasks ?? [-1]).every((task) => there.has(task))),
    ];
  }
}
