/** What the client remembers of a job. All of it can be had again: from the cluster, the host and Slurm. */

import { Backoff } from '../base/backoff.ts';
import type { Timer } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { rfc3339 } from '../base/time.ts';
import type { Looked, SlurmTask } from './host-answers.ts';
import type { Step } from './job-plan.ts';
import type { SlurmJob, SlurmJobStatus } from './slurm-job.ts';

export const nothingLooked: Looked = { sizes: new Map(), exited: new Map() };

export class JobEntry {
  job: SlurmJob;
  /** The cluster's own may be behind. */
  status: SlurmJobStatus;
  /** As the cluster has it. */
  written: SlurmJobStatus | undefined;
  writing: Promise<void> = Promise.resolve();
  /** Bytes of each file that the cluster has, by kind and path; undefined until it was asked. */
  stored: Map<string, number> | undefined;
  looked: Looked = nothingLooked;
  /** What the queue has said last; undefined before it has answered once since the job was submitted. */
  queue: readonly SlurmTask[] | undefined;
  account: readonly SlurmTask[] = [];
  /** When Slurm first said that it does not know the job. */
  unknownSince: number | undefined;
  forgotten = false;
  /** There is an answer that the status does not tell yet. */
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

  /** The queue's word goes before accounting's, which is behind. */
  get tasks(): readonly SlurmTask[] {
    const queue = this.queue ?? [];
    const there = new Set(queue.flatMap(({ tasks }) => tasks ?? [-1]));
    return [
      ...queue,
      ...this.account.filter(({ tasks }) => !(tasks ?? [-1]).every((task) => there.has(task))),
    ];
  }
}
