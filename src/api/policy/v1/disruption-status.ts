/** The part of a disruption budget's status that the controller and evictions write. Pure. */
import type { Condition } from '../../meta/v1/types.gen.ts';
import type { PodDisruptionBudget } from './types.gen.ts';

export type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

const type = 'DisruptionAllowed';

/**
 * Returns the conditions, with one for the possibility of a disruption (upstream:
 * UpdateDisruptionAllowedCondition).
 */
export function conditionsOf(
  status: Pick<BudgetStatus, 'conditions' | 'disruptionsAllowed' | 'observedGeneration'>,
  now: string,
): Condition[] {
  const allowed = status.disruptionsAllowed > 0;
  return withCondition(status.conditions, {
    type,
    status: allowed ? 'True' : 'False',
    reason: allowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: status.observedGeneration,
    lastTransitionTime: now,
  });
}

/** Returns the conditions of a budget whose numbers could not be determined: no disruption is allowed. */
export const failedConditions = (status: BudgetStatus | undefined, why: string, now: string): Condition[] =>
  withCondition(status?.conditions, {
    type,
    status: 'False',
    reason: 'SyncFailed',
    message: why,
    observedGeneration: status?.observedGeneration,
    lastTransitionTime: now,
  });

function withCondition(conditions: readonly Condition[] = [], next: Condition): Condition[] {
  const old = conditions.find((condition) => condition.type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : next.lastTransitionTime;
  const changed = { ...next, lastTransitionTime };
  return old ? conditions.map((one) => (one === old ? changed : one)) : [...conditions, changed];
}
