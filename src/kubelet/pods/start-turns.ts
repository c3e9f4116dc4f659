/** The limit on starts at once, and the refill of the ready sandboxes when no start waits. */
import PQueue from 'p-queue';
import { withinNow } from '../../base/tracing/current-span.ts';
import type { Sandboxes } from '../runtime/sandboxes.ts';

/**
 * Maximum number of sandboxes and containers that start at once: enough to overlap their waits. More make
 * each start slower and none faster (measured on two cores).
 */
const startsAtOnce = 10;

export class StartTurns {
  readonly #starts = new PQueue({ concurrency: startsAtOnce });
  readonly #sandboxes: Pick<Sandboxes, 'refill'>;

  constructor(sandboxes: Pick<Sandboxes, 'refill'>) {
    this.#sandboxes = sandboxes;
  }

  /** Runs the work of a start when its turn comes; resolves and rejects as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#starts.add(withinNow(work));
    } finally {
      // Sandboxes for later pods are made when no pod waits for its own start; the start that ends here is
      // still counted as pending.
      if (this.#starts.size === 0 && this.#starts.pending <= 1) this.#sandboxes.refill();
    }
  }
}
