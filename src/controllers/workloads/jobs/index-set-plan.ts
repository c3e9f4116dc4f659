/**
 * Sets of completion indexes as in the status of a Job: ascending intervals that do not touch, written
 * `0,2-4,7`. A Job with a hundred thousand indexes that end in order is one interval. Pure.
 */
import { type Interval, readIndexes } from '../../../api/batch/v1/job-indexes.ts';

export type IndexSet = readonly Interval[];

/** Parses a set. Indexes not below `completions` are omitted, because the Job may have been made smaller. */
export const parseIndexSet = (text: string | undefined, completions: number): IndexSet =>
  union(readIndexes(text ?? '', completions), []);

/** Returns the set of the indexes, which may be in any order and repeated. */
export const indexSetOf = (indexes: Iterable<number>): IndexSet =>
  union(
    [...indexes].sort((a, b) => a - b).map((index) => ({ first: index, last: index })),
    [],
  );

export function union(a: IndexSet, b: IndexSet): IndexSet {
  const result: { first: number; last: number }[] = [];
  for (const next of merged(a, b)) {
    const last = result.at(-1);
    if (last && next.first <= last.last + 1) last.last = Math.max(last.last, next.last);
    else result.push({ ...next });
  }
  return result;
}

/** Yields the intervals of both sets, ordered by their first index. */
function* merged(a: IndexSet, b: IndexSet): Iterable<Interval> {
  let [i, j] = [0, 0];
  for (;;) {
    const [one, other] = [a[i], b[j]];
    if (one && (!other || one.first <= other.first)) {
      yield one;
      i++;
    } else if (other) {
      yield other;
      j++;
    } else return;
  }
}

export const sizeOf = (set: IndexSet): number =>
  set.reduce((sum, { first, last }) => sum + last - first + 1, 0);

export function includes(set: IndexSet, index: number): boolean {
  let [low, high] = [0, set.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((set[middle] as Interval).last < index) low = middle + 1;
    else high = middle;
  }
  const found = set[low];
  return found !== undefined && found.first <= index;
}

/** Returns the number of indexes that both sets contain. */
export function sizeOfShared(a: IndexSet, b: IndexSet): number {
  let count = 0;
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [a[i], b[j]];
    if (!one || !other) return count;
    count += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1);
    if (one.last < other.last) i++;
    else j++;
  }
}

/** Returns the first `count` indexes below `completions` that are not in the set. */
export function firstOutside(set: IndexSet, count: number, completions: number): number[] {
  const result: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...set, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && result.length < count; candidate++)
      result.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return result;
}

/** Formats a set. Two adjacent indexes are written separately, as upstream does. */
export const formatIndexSet = (set: IndexSet): string =>
  set
    .map(({ first, last }) =>
      first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`,
    )
    .join(',');
