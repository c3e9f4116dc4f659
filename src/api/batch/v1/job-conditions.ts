import type { Job } from './types.gen.ts';

export type JobConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';

export const hasCondition = ({ status }: Job, wanted: JobConditionType): boolean =>
  status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') ?? false;

/** It has come to an end, good or bad. */
export const isFinished = (job: Job) => hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
