/** The time that the start of a pod spent on images and init containers. Pure. */
import type { PodStatus } from '../../../api/core/v1/types.gen.ts';

/** A period in milliseconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Returns the periods in which init containers ran that have ended. */
export function initTime({ initContainerStatuses = [] }: PodStatus): readonly Period[] {
  return initContainerStatuses.flatMap(({ state, lastState }) =>
    [state?.terminated, lastState?.terminated].flatMap((ended) =>
      ended?.startedAt && ended.finishedAt
        ? [{ from: Date.parse(ended.startedAt), to: Date.parse(ended.finishedAt) }]
        : [],
    ),
  );
}

/** Returns the milliseconds in which at least one of the periods lasted: overlaps count once. */
export function together(periods: readonly Period[]): number {
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}
