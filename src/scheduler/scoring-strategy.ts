/**
 * Scores the utilization of a node's resources: the scoring strategies of upstream's NodeResourcesFit. Pure.
 */
import { maxScore } from './framework.ts';

/**
 * Points that map a utilization in percent to a score of 0 to 10, in ascending order of utilization, with
 * linear interpolation.
 */
export type Shape = readonly (readonly [utilization: number, score: number])[];

export type ScoringStrategy =
  | { readonly type: 'LeastAllocated' | 'MostAllocated' }
  | { readonly type: 'RequestedToCapacityRatio'; readonly shape: Shape };

/**
 * Returns 0 to 100 for a resource of which `taken` would be requested; 0 if the node does not have the
 * resource.
 */
export function scoreOf(strategy: ScoringStrategy, taken: number, capacity: number): number {
  if (capacity <= 0) return 0;
  const share = taken / capacity;
  switch (strategy.type) {
    case 'LeastAllocated':
      return Math.max(0, 1 - share) * maxScore;
    case 'MostAllocated':
      return Math.min(1, share) * maxScore;
    case 'RequestedToCapacityRatio':
      return (onShape(strategy.shape, Math.min(1, share) * 100) * maxScore) / 10;
  }
}

function onShape(shape: Shape, utilization: number): number {
  let below: Shape[number] | undefined;
  for (const point of shape) {
    if (point[0] > utilization) {
      if (!below) return point[1];
      const part = (utilization - below[0]) / (point[0] - below[0]);
      return below[1] + part * (point[1] - below[1]);
    }
    below = point;
  }
  return below?.[1] ?? 0;
}

/**
 * Parses `LeastAllocated`, `MostAllocated` or `RequestedToCapacityRatio=0:0,100:10`. Returns undefined for
 * other texts.
 */
export function parseScoringStrategy(text: string): ScoringStrategy | undefined {
  if (text === 'LeastAllocated' || text === 'MostAllocated') return { type: text };
  const [, points] = /^RequestedToCapacityRatio=(\d+:\d+(?:,\d+:\d+)*)$/.exec(text) ?? [];
  if (points === undefined) return undefined;
  const shape = points.split(',').map((point) => {
    const [utilization = 0, score = 0] = point.split(':').map(Number);
    return [utilization, score] as const;
  });
  const valid = shape.every(
    ([utilization, score], index) =>
      utilization <= 100 && score <= 10 && utilization > (shape[index - 1]?.[0] ?? -1),
  );
  return valid ? { type: 'RequestedToCapacityRatio', shape } : undefined;
}
