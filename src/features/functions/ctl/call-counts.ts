/** The calls of a function in words, from the metrics of the master that answers. Pure. */
import type { Found } from '../../../cli/describe/describer.ts';
import { none } from '../../../cli/describe/lines.ts';
import { type FunctionCalls, functionCalls, secondsText } from '../../../views/function-calls.ts';

/** Returns the lines about the calls since the start of the master. */
export function countLines({ items, refused }: Found): string[] {
  if (refused !== undefined) return [`  Counts:\t${refused}`];
  const calls = functionCalls(items);
  const failures = calls.failed.reduce((total, [, count]) => total + count, 0);
  return [
    `  Answered:\t${calls.answered} since the start of this master`,
    `  Failed:\t${failures}${codesText(calls)}`,
    `  Waiting:\t${calls.waiting}`,
    `  Cold Starts:\t${calls.coldStarts}`,
    `  Latency:\t${latencyText(calls)}`,
  ];
}

/** Returns text such as ` (499: 1, 502: 2)`; empty without failures. */
const codesText = ({ failed }: FunctionCalls): string =>
  failed.length > 0 ? ` (${failed.map(([code, count]) => `${code}: ${count}`).join(', ')})` : '';

function latencyText({ measured, averageSeconds, within }: FunctionCalls): string {
  if (measured === 0) return none;
  const shares = [0.5, 0.99].map((share) => `${share * 100}% within ${secondsText(within(share))}`);
  return [`average ${secondsText(averageSeconds)}`, ...shares].join(', ');
}
