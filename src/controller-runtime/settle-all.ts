/**
 * The same for each of very many objects, such as the dependents of one that is gone: not all at once, since that would be one turn of
 * the event loop, in which nobody else is answered.
 */
import type { Clock } from '../base/clock.ts';
import { inTurns } from './turns.ts';

/** More at once would not be done sooner: the store syncs what comes together to the disk at one go. */
export const atOnce = 64;

/** Like Promise.allSettled, in the order of the items; a few begin at a time, and others get their turn. */
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

/** Each on its own: one that fails does not keep the others. Rejects with what the first of the items failed with. */
export async function doAll<T>(
  clock: Clock,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failed = (await settleAll(clock, items, work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
