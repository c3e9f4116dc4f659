/** Steps that did not work and are tried again, and what the status of the job says of them. */
import { errorMessage } from '../base/log.ts';
import type { NewCondition, Step } from './job-plan.ts';
import type { SlurmJobConditionType } from './slurm-job.ts';
import { ConnectionError } from './ssh.ts';

/** A step did not work now; the message is for the job's condition. */
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

/** The cluster does not have the status that a step came to; the step itself may be done. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

/** The condition of each step that has one. */
const conditions: Readonly<Partial<Record<Step, SlurmJobConditionType>>> = {
  prepare: 'Uploaded',
  upload: 'Uploaded',
  build: 'Built',
  submit: 'Submitted',
  fetch: 'ResultsFetched',
};

/** What the status says of the failure; undefined where no condition could say it, or Connected says it already. */
export function problemOf(step: Step, error: unknown): NewCondition | undefined {
  if (error instanceof ConnectionError || error instanceof NotWritten) return undefined;
  const said = error instanceof NotNow ? error : undefined;
  const type = said?.condition ?? conditions[step];
  // Failed is there while Slurm cancels the job, and says why.
  if (type === undefined || type === 'Failed' || type === 'Connected') return undefined;
  const status = type === 'ResultsFetched' ? 'Unknown' : 'False';
  return { type, status, reason: said?.reason ?? 'TryingAgain', message: errorMessage(error) };
}
