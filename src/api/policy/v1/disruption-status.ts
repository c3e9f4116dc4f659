/** The part of a disruption budget's status that the controller and evictions write. Pure. */
import { timedCondition, withReplaced } from '../../../apimachinery/conditions.ts';
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
  return stamped(status.conditions, now, {
    type,
    status: allowed ? 'True' : 'False',
    reason: allowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: status.observedGeneration,
  });
}

/** Returns the conditions of a budget whose numbers could not be determined: no disruption is allowed. */
export const failedConditions = (status: BudgetStatus | undefined, why: string, now: string): Condition[] =>
  stamped(status?.conditions, now, {
    type,
    status: 'False',
    reason: 'SyncFailed',
    message: why,
    observedGeneration: status?.observedGeneration,
  });

const stamped = (
  conditions: readonly Condition[] = [],
  now: string,
  next: Omit<Condition, 'lastTransitionTime'>,
): Condition[] => withReplaced(conditions, timedCondition(conditions, next, now));
