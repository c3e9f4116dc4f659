/** What of the start of a pod was spent on images and init containers. Pure. */
import type { PodStatus } from '../../../api/core/v1/types.gen.ts';

/** In milliseconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** When init containers ran that have ended. */
export function initTime({ initContainerStatuses = [] }: PodStatus): readonly Period[] {
  return initContainerStatuses.flatMap(({ state, lastState }) =>
    [state?.terminated, lastState?.terminated].flatMap((ended) =>
      ended?.startedAt && ended.finishedAt
        ? [{ from: Date.parse(ended.startedAt), to: Date.parse(ended.finishedAt) }]
        : [],
    ),
  );
}

/** How long at least one of them lasted, in milliseconds: what overlaps counts once. */
export function together(periods: readonly Period[]): number {
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}
