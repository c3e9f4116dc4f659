/** The calls of a function in words, from the metrics of the master that answers. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Found } from '../../../cli/describe/describer.ts';
import { none } from '../../../cli/describe/lines.ts';
import { numberAt, textAt } from '../../../cli/objects/objects.ts';

/** Returns the lines about the calls since the start of the master. */
export function countLines({ items, refused }: Found): string[] {
  if (refused !== undefined) return [`  Counts:\t${refused}`];
  const codes = named(items, 'calls_total');
  const failed = codes.filter((sample) => numberOf(sample, 'code') >= 400);
  const waiting = sum(named(items, 'calls_waiting'));
  return [
    `  Answered:\t${sum(codes)} since the start of this master`,
    `  Failed:\t${sum(failed)}${codesText(failed)}`,
    `  Waiting:\t${waiting}`,
    `  Cold Starts:\t${sum(named(items, 'cold_starts_total'))}`,
    `  Latency:\t${latencyText(items)}`,
  ];
}

const named = (samples: readonly JsonObject[], name: string) =>
  samples.filter((sample) => sample.name === `minik8s_function_${name}`);

const numberOf = (sample: JsonObject, label: string) => Number(textAt(sample, 'labels', label));

const sum = (samples: readonly JsonObject[]) =>
  samples.reduce((total, sample) => total + numberAt(sample, 'value'), 0);

/** Returns text such as ` (499: 1, 502: 2)`; empty for no samples. */
function codesText(samples: readonly JsonObject[]): string {
  const parts = samples
    .toSorted((a, b) => numberOf(a, 'code') - numberOf(b, 'code'))
    .map((sample) => `${textAt(sample, 'labels', 'code')}: ${numberAt(sample, 'value')}`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function latencyText(samples: readonly JsonObject[]): string {
  const count = sum(named(samples, 'call_duration_seconds_count'));
  if (count === 0) return none;
  const average = sum(named(samples, 'call_duration_seconds_sum')) / count;
  const buckets = named(samples, 'call_duration_seconds_bucket')
    .map((sample) => ({ bound: boundOf(sample), count: numberAt(sample, 'value') }))
    .sort((a, b) => a.bound - b.bound);
  const shares = [0.5, 0.99].map((share) => {
    const found = buckets.find((bucket) => bucket.count >= share * count)?.bound ?? Number.POSITIVE_INFINITY;
    return `${share * 100}% within ${secondsText(found)}`;
  });
  return [`average ${secondsText(average)}`, ...shares].join(', ');
}

function boundOf(sample: JsonObject): number {
  const bound = textAt(sample, 'labels', 'le');
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
}

/** Returns a duration such as `2.5ms` or `1.2s`. */
function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'any time';
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))}ms` : `${Number(seconds.toPrecision(3))}s`;
}
