/** Work of a command on several objects, of which some may fail. */
import type { VerbContext } from './verb.ts';

interface Reporting {
  readonly io: Pick<VerbContext['io'], 'signal'>;
  report(error: unknown): void;
}

/**
 * Processes the items one after another. An error is reported as `explain` returns it, and the items after it
 * are still processed. Rejects with the error if the user interrupted the command.
 */
export async function forEachReported<T>(
  { io, report }: Reporting,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  explain: (error: unknown, item: T) => unknown = (error) => error,
): Promise<void> {
  for await (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (io.signal.aborted) throw error;
      report(explain(error, item));
    }
  }
}
