/** Conditions of a Job. Pure. */
import type { JobConditionType } from '../../../api/batch/v1/job-conditions.ts';
import type { JobCondition } from '../../../api/batch/v1/types.gen.ts';
import { rfc3339 } from '../../../base/time.ts';

/** End of a Job: the type of its terminal condition, and the reason. */
export interface Ending {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** Condition that announces the end while pods are still terminating or uncounted. */
export const interimType = {
  Complete: 'SuccessCriteriaMet',
  Failed: 'FailureTarget',
} as const satisfies Record<Ending['type'], JobConditionType>;

export const failedBy = (reason: string, message: string): Ending => ({ type: 'Failed', reason, message });
export const completeBy = (reason: string, message: string): Ending => ({
  type: 'Complete',
  reason,
  message,
});

/** Returns the end that an earlier reconcile decided. It remains valid, whatever has happened since. */
export function endingInConditions(conditions: readonly JobCondition[] = []): Ending | undefined {
  for (const type of ['Complete', 'Failed'] as const) {
    const condition = conditions.find((one) => one.type === interimType[type] && one.status === 'True');
    if (condition) return { type, reason: condition.reason ?? '', message: condition.message ?? '' };
  }
  return undefined;
}

export function jobCondition(
  { type, reason, message }: { type: JobConditionType; reason: string; message: string },
  now: number,
  status: 'True' | 'False' = 'True',
): JobCondition {
  const time = rfc3339(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** Returns the list with the condition in it, or the same list if it already contains it. */
export function withJobCondition(
  list: readonly JobCondition[],
  condition: JobCondition,
): readonly JobCondition[] {
  const at = list.findIndex(({ type }) => type === condition.type);
  const current = list[at];
  if (!current) return [...list, condition];
  const { status, reason, message } = condition;
  if (current.status === status && current.reason === reason && current.message === message) return list;
  return list.with(at, condition);
}
