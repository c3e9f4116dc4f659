/** The calls of functions, from the samples of a master's page of metrics. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { numberAt, textAt } from '../apimachinery/fields.ts';

export interface FunctionCalls {
  readonly answered: number;
  /** Calls with a status of 400 and above, by status, the lowest first. */
  readonly failed: readonly (readonly [code: number, count: number])[];
  readonly waiting: number;
  readonly coldStarts: number;
  /** Number of calls whose duration was measured, and the mean of it in seconds. */
  readonly measured: number;
  readonly averageSeconds: number;
  /** Returns the seconds within which a share of the calls was answered; infinite if that is unknown. */
  within(share: number): number;
}

/** Returns the calls of one function since the start of the master; the samples are those of the function. */
export function functionCalls(samples: readonly JsonObject[]): FunctionCalls {
  const named = (name: string) => samples.filter((sample) => sample.name === `minik8s_function_${name}`);
  const codes = named('calls_total');
  const measured = sum(named('call_duration_seconds_count'));
  const buckets = named('call_duration_seconds_bucket')
    .map((sample) => ({ bound: boundOf(sample), count: numberAt(sample, 'value') }))
    .sort((a, b) => a.bound - b.bound);
  return {
    answered: sum(codes),
    failed: codes
      .map((sample) => [Number(textAt(sample, 'labels', 'code')), numberAt(sample, 'value')] as const)
      .filter(([code]) => code >= 400)
      .sort(([a], [b]) => a - b),
    waiting: sum(named('calls_waiting')),
    coldStarts: sum(named('cold_starts_total')),
    measured,
    averageSeconds: measured === 0 ? 0 : sum(named('call_duration_seconds_sum')) / measured,
    within: (share) =>
      buckets.find(({ count }) => count >= share * measured)?.bound ?? Number.POSITIVE_INFINITY,
  };
}

const sum = (samples: readonly JsonObject[]) =>
  samples.reduce((total, sample) => total + numberAt(sample, 'value'), 0);

function boundOf(sample: JsonObject): number {
  const bound = textAt(sample, 'labels', 'le');
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
}

/** Returns a duration such as `2.5ms` or `1.2s`. */
export function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'any time';
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))}ms` : `${Number(seconds.toPrecision(3))}s`;
}
