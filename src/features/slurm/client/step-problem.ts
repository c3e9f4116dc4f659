/** Converts failures of steps that are retried to conditions of the job. */
import { errorMessage } from '../../../base/log.ts';
import type { NewCondition, Step } from './job-plan.ts';
import type { SlurmJobConditionType } from './slurm-job.ts';
import { ConnectionError } from './ssh.ts';

/** A step failed and is to be retried; the message is for the job's condition. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
  readonly condition: SlurmJobConditionType;
  readonly reason: string;
  constructor(condition: SlurmJobConditionType, reason: string, message: string) {
    super(message);
    this.condition = condition;
    this.reason = reason;
  }
}

/** The status after a step was not written to the cluster; the step itself may be done. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

/** Condition type of each step that has one. */
const conditions: Readonly<Partial<Record<Step, SlurmJobConditionType>>> = {
  prepare: 'Uploaded',
  upload: 'Uploaded',
  build: 'Built',
  submit: 'Submitted',
  fetch: 'ResultsFetched',
};

/**
 * Returns the condition for a failure, or undefined if no condition applies or Connected already reports it.
 */
export function problemOf(step: Step, error: unknown): NewCondition | undefined {
  if (error instanceof ConnectionError || error instanceof NotWritten) return undefined;
  const known = error instanceof NotNow ? error : undefined;
  const type = known?.condition ?? conditions[step];
  // Failed exists while Slurm cancels the job, and states the reason.
  if (type === undefined || type === 'Failed' || type === 'Connected') return undefined;
  const status = type === 'ResultsFetched' ? 'Unknown' : 'False';
  return { type, status, reason: known?.reason ?? 'TryingAgain', message: errorMessage(error) };
}
