/** An action on several objects: the failure of one does not end the others. */

export type Outcome =
  | { readonly state: 'waiting' | 'running' }
  /** `text` is what was done or why it failed. */
  | { readonly state: 'done' | 'failed'; readonly text: string };

/** Requests that run at once: browsers open six connections to a server without HTTP/2. */
const atOnce = 4;

interface Run<T> {
  /** Resolves to what was done with an object. */
  readonly work: (item: T) => Promise<string>;
  /** Returns the reason of a failure in words. */
  readonly reasonOf: (error: unknown) => string;
  readonly report: (index: number, outcome: Outcome) => void;
  /** When it aborts, no further objects are begun. */
  readonly signal: AbortSignal;
}

/** Does the work with each of the items, in their order, and reports the outcome of each. Never rejects. */
export async function eachOfSeveral<T>(
  items: readonly T[],
  { work, reasonOf, report, signal }: Run<T>,
): Promise<void> {
  const queue = items.entries();
  const next = async () => {
    for (const [index, item] of queue) {
      if (signal.aborted) return;
      report(index, { state: 'running' });
      try {
        report(index, { state: 'done', text: await work(item) });
      } catch (error) {
        report(index, { state: 'failed', text: reasonOf(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

export interface Counts {
  readonly done: number;
  readonly failed: number;
  /** Objects that wait or are being worked on. */
  readonly left: number;
}

export function countOutcomes(outcomes: readonly Outcome[]): Counts {
  const count = (state: Outcome['state']) => outcomes.filter((one) => one.state === state).length;
  const [done, failed] = [count('done'), count('failed')];
  return { done, failed, left: outcomes.length - done - failed };
}

/** Returns `3 done, 1 failed, 2 left`; numbers of 0 are omitted, except of what is done. */
export const countsText = ({ done, failed, left }: Counts): string =>
  [`${done} done`, ...(failed > 0 ? [`${failed} failed`] : []), ...(left > 0 ? [`${left} left`] : [])].join(
    ', ',
  );

/** Returns indexes of the outcomes, those of failures first, then running, waiting and done ones. */
export function mostUrgentFirst(outcomes: readonly Outcome[]): number[] {
  const ranks = { failed: 0, running: 1, waiting: 2, done: 3 } as const;
  return outcomes
    .map((_, index) => index)
    .sort((a, b) => ranks[outcomes[a]?.state ?? 'done'] - ranks[outcomes[b]?.state ?? 'done'] || a - b);
}
