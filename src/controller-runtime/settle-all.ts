/**
 * Applies the same work to very many objects, such as the dependents of a deleted object. The work is not
 * started all at once, because that would be one turn of the event loop, in which no other work proceeds.
 */
import type { Clock } from '../base/clock.ts';
import { inTurns } from '../base/event-loop/pieces.ts';

/**
 * Maximum number of items in progress. A larger number would not be faster, because the store syncs
 * concurrent writes to the disk together.
 */
export const atOnce = 64;

/**
 * Works like Promise.allSettled, with results in the order of the items. A few items start at a time, so that
 * other work gets its turn.
 */
export async function settleAll<T, R>(
  clock: Clock,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results = new Array<PromiseSettledResult<R>>(items.length);
  const nextPiece = inTurns(clock);
  const left = items.entries();
  const some = async () => {
    for (const [index, item] of left) {
      await nextPiece();
      [results[index]] = (await Promise.allSettled([work(item)])) as [PromiseSettledResult<R>];
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, some));
  return results;
}

/**
 * Works on every item, even if some fail. Rejects with the error of the first item that failed, in item
 * order.
 */
export async function doAll<T>(
  clock: Clock,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failed = (await settleAll(clock, items, work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
