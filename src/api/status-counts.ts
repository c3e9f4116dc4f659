/**
 * Rules of numbers in the status of a workload (upstream: ValidateNonnegativeField and similar in each kind's
 * validation).
 */
import { invalidCause } from '../apimachinery/field-error.ts';
import type { StatusCause } from '../apimachinery/status-error.ts';

/** Rejects negative numbers in the status itself. */
export function validateCounts(status: object): StatusCause[] {
  return Object.entries(status).flatMap(([name, value]) =>
    typeof value === 'number' && value < 0
      ? [invalidCause(`status.${name}`, value, 'must be greater than or equal to 0')]
      : [],
  );
}

/** Rejects a part that is greater than the total; `why` is the message. */
export function validateParts<T extends object>(
  status: T,
  all: keyof T & string,
  parts: readonly (keyof T & string)[],
  why: string,
): StatusCause[] {
  const number = (name: keyof T) => Number(status[name] ?? 0);
  return parts
    .filter((name) => number(name) > number(all))
    .map((name) => invalidCause(`status.${name}`, status[name], why));
}

/**
 * Rejects a smaller collision count, which makes the names of revisions unique; a lower one would repeat
 * names.
 */
export function validateCollisions(
  status: { collisionCount?: number | undefined },
  before: { collisionCount?: number | undefined } | undefined,
): StatusCause[] {
  const old = before?.collisionCount;
  const { collisionCount = -1 } = status;
  if (old === undefined || collisionCount >= old) return [];
  return [invalidCause('status.collisionCount', status.collisionCount ?? 0, 'cannot be decremented')];
}
