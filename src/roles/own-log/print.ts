/** Prints the selected lines of a log. */
import type { Io } from '../../cli/io.ts';
import type { Batch } from './file-source.ts';
import { LineSelector, type Selection } from './selection.ts';

/** Number of lines beyond the wanted ones after which the first are dropped. */
const spareLines = 10_000;

/**
 * Prints the batches. Of the lines that were written before the command, it prints only the last `tail`
 * selected ones. Waits for the reader of standard output.
 */
export async function printBatches(
  io: Io,
  batches: AsyncIterable<Batch>,
  selection: Selection,
  tail: number | undefined,
): Promise<void> {
  const selector = new LineSelector(selection);
  const kept = tail === undefined ? undefined : new LastLines(tail);
  let isPast = kept !== undefined;
  for await (const { lines, isCaughtUp } of batches) {
    const chosen = lines.flatMap((line) => selector.take(line) ?? []);
    if (!isPast || kept === undefined) {
      await print(io, chosen);
      continue;
    }
    kept.add(chosen);
    isPast = !isCaughtUp;
    if (!isPast) await print(io, kept.take());
  }
  if (kept) await print(io, kept.take());
}

async function print(io: Io, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  io.out(`${lines.join('\n')}\n`);
  await io.room?.();
}

class LastLines {
  readonly #count: number;
  #lines: string[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
    if (this.#lines.length > this.#count + spareLines) this.#lines = this.#last();
  }

  take(): readonly string[] {
    const last = this.#last();
    this.#lines = [];
    return last;
  }

  #last(): string[] {
    return this.#count === 0 ? [] : this.#lines.slice(-this.#count);
  }
}
