/**
 * Indexes of the pods of a Job, ascending and with runs as intervals: `0,2-4,7` (upstream:
 * validateIndexesFormat).
 */

export interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Thrown for an invalid list of indexes; the message describes the problem. */
export class IndexesError extends Error {
  override readonly name = 'IndexesError';
}

/**
 * Returns the number of indexes in the text, all of which must be below `completions`; throws IndexesError.
 */
export function countIndexes(text: string, completions: number): number {
  let count = 0;
  let previous = -1;
  for (const fragment of text === '' ? [] : text.split(',')) {
    const { first, last } = parseInterval(fragment, completions);
    if (first <= previous) throw notIncreasing(previous, first);
    count += last - first + 1;
    previous = last;
  }
  return count;
}

/** Returns the intervals of a text, limited to `completions`; unreadable parts are skipped. */
export function readIndexes(text: string, completions: number): Interval[] {
  return readable(text, Number.MAX_SAFE_INTEGER).flatMap(({ first, last }) =>
    first < completions ? [{ first, last: Math.min(last, completions - 1) }] : [],
  );
}

/** Returns the first index that both texts have; unreadable parts are skipped. */
export function sharedIndex(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [readable(a, completions), readable(b, completions)];
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [left[i], right[j]];
    if (!one || !other) return undefined;
    if (one.first <= other.last && other.first <= one.last) return Math.max(one.first, other.first);
    if (one.first <= other.first) i++;
    else j++;
  }
}

function readable(text: string, completions: number): Interval[] {
  return text.split(',').flatMap((fragment) => {
    try {
      return [parseInterval(fragment, completions)];
    } catch (error) {
      if (error instanceof IndexesError) return [];
      throw error;
    }
  });
}

function parseInterval(fragment: string, completions: number): Interval {
  const ends = fragment.split('-');
  if (ends.length > 2)
    throw new IndexesError(`the fragment ${JSON.stringify(fragment)} has more than two parts`);
  const first = parseIndex(ends[0] ?? '', completions);
  if (ends[1] === undefined) return { first, last: first };
  const last = parseIndex(ends[1], completions);
  if (first >= last) throw notIncreasing(first, last);
  return { first, last };
}

function parseIndex(text: string, completions: number): number {
  if (!/^\+?\d{1,15}$/.test(text))
    throw new IndexesError(`cannot convert string to integer for index: ${JSON.stringify(text)}`);
  if (Number(text) >= completions) throw new IndexesError(`too large index: ${JSON.stringify(text)}`);
  return Number(text);
}

const notIncreasing = (previous: number, current: number) =>
  new IndexesError(`non-increasing order, previous: ${previous}, current: ${current}`);
