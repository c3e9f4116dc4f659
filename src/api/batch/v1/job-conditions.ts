import type { Job } from './types.gen.ts';

export type JobConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';

const trueCondition = ({ status }: Job, wanted: JobConditionType) =>
  status?.conditions?.find(({ type, status }) => type === wanted && status === 'True');

export const hasCondition = (job: Job, wanted: JobConditionType): boolean =>
  trueCondition(job, wanted) !== undefined;

/** Returns the condition of a finished Job, Complete or Failed; undefined for a Job that is not finished. */
export const finishedCondition = (job: Job) => trueCondition(job, 'Complete') ?? trueCondition(job, 'Failed');

export const isFinished = (job: Job) => finishedCondition(job) !== undefined;
