/**
 * A number of pods, or a percentage such as `25%` (upstream: ValidatePositiveIntOrPercent,
 * IsNotMoreThan100Percent).
 */
import { invalidCause } from '../apimachinery/field-error.ts';
import type { StatusCause } from '../apimachinery/status-error.ts';

export type IntOrPercent = number | string;

const percent = /^[0-9]+%$/;

export function validateIntOrPercent(value: IntOrPercent, path: string): StatusCause[] {
  if (typeof value === 'number')
    return value >= 0 ? [] : [invalidCause(path, value, 'must be greater than or equal to 0')];
  if (percent.test(value)) return [];
  const why = "a valid percent string is digits and then '%'";
  return [invalidCause(path, value, `${why}, such as '25%' (it has to match '[0-9]+%')`)];
}

export function validateAtMostAll(value: IntOrPercent, path: string): StatusCause[] {
  const isMore = typeof value === 'string' && percent.test(value) && Number.parseInt(value, 10) > 100;
  return isMore ? [invalidCause(path, value, 'must not be greater than 100%')] : [];
}

/** Returns the number: the value itself, or the percentage of `total`. */
export function resolveCount(value: IntOrPercent, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return Math.max(0, value);
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : round((Number(percent) * total) / 100);
}

/**
 * Returns true if the value is zero for any number of replicas, and for an invalid text, which other rules
 * reject.
 */
export const isNone = (value: IntOrPercent) =>
  typeof value === 'number' ? value === 0 : !percent.test(value) || Number.parseInt(value, 10) === 0;
