/** Status conditions as a list with one entry for each type. Pure: the time is an argument. */
import type { Condition } from './schema.ts';

export const findCondition = <T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined => conditions?.find((condition) => condition.type === type);

/** Part of a condition that decides about its transition time; the types of some kinds allow any status. */
interface Timed {
  readonly status?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

/**
 * Returns the transition time of a condition that has `status` from now on: the known time as long as the
 * status stays, otherwise `now`. A condition that was written without a time gets `now`. Times are in
 * RFC 3339.
 */
export const transitionTime = (
  before: Timed | undefined,
  status: Condition['status'],
  now: string,
): string => (before?.status === status ? (before.lastTransitionTime ?? now) : now);

/**
 * Returns the list with `condition` in it. An existing condition with the same status and reason is kept as
 * it is, so that a converged status is not written again. `lastTransitionTime` is the current time; it is
 * written only when the status changes.
 */
export function withCondition(
  conditions: readonly Condition[],
  condition: Condition & { readonly lastTransitionTime: string },
): Condition[] {
  const current = findCondition(conditions, condition.type);
  if (current && current.status === condition.status && current.reason === condition.reason)
    return [...conditions];
  const next = {
    ...condition,
    lastTransitionTime: transitionTime(current, condition.status, condition.lastTransitionTime),
  };
  return replaced(conditions, current, next);
}

/** Returns the list with `condition` in the place of the one of its type, or at the end. */
export const withReplaced = (conditions: readonly Condition[], condition: Condition): Condition[] =>
  replaced(conditions, findCondition(conditions, condition.type), condition);

const replaced = (conditions: readonly Condition[], old: Condition | undefined, next: Condition) =>
  old ? conditions.map((other) => (other === old ? next : other)) : [...conditions, next];

export const withoutCondition = <T extends { readonly type: string }>(
  conditions: readonly T[],
  type: string,
): T[] => conditions.filter((condition) => condition.type !== type);

/**
 * Returns the condition as it is to be written now. Its transition time changes only when its status does.
 */
export function timedCondition<T extends Omit<Condition, 'lastTransitionTime'>>(
  before: readonly Condition[],
  condition: T,
  timestamp: string,
): T & { readonly lastTransitionTime: string } {
  const current = findCondition(before, condition.type);
  return { ...condition, lastTransitionTime: transitionTime(current, condition.status, timestamp) };
}
