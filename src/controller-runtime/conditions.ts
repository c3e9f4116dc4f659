/** Status conditions as a list with one entry for each type. Pure: the time is an argument. */
import type { Condition } from '../apimachinery/schema.ts';

export const findCondition = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((condition) => condition.type === type);

/**
 * Returns the list with `condition` in it. An existing condition with the same status and reason is kept as
 * it is, so that a converged status is not written again. The transition time changes only when the status
 * does.
 */
export function withCondition(conditions: readonly Condition[], condition: Condition): Condition[] {
  const current = findCondition(conditions, condition.type);
  if (current && current.status === condition.status && current.reason === condition.reason)
    return [...conditions];
  const lastTransitionTime =
    current?.status === condition.status ? current.lastTransitionTime : condition.lastTransitionTime;
  const next = { ...condition, lastTransitionTime };
  return current ? conditions.map((other) => (other === current ? next : other)) : [...conditions, next];
}

export const withoutCondition = (conditions: readonly Condition[], type: string): Condition[] =>
  conditions.filter((condition) => condition.type !== type);

/**
 * Returns the condition as it is to be written now. Its transition time changes only when its status does.
 */
export function timedCondition(
  before: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  timestamp: string,
): Condition {
  const current = findCondition(before, condition.type);
  const isSame = current?.status === condition.status && current.lastTransitionTime !== undefined;
  return { ...condition, lastTransitionTime: isSame ? current.lastTransitionTime : timestamp };
}
