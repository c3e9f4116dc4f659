/** Delays that grow with the number of consecutive failures. */
import type { Random } from './random.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Factor from a delay to the next; default 2. */
  readonly factor?: number;
}

/**
 * Returns the delay in milliseconds after `failures` consecutive failures: `initialMs` after the first, 0
 * without failures.
 */
export function backoffMs({ initialMs, maxMs, factor = 2 }: BackoffOptions, failures: number): number {
  return failures < 1 ? 0 : Math.min(maxMs, initialMs * factor ** (failures - 1));
}

/** Counts consecutive failures of one operation. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random | undefined;
  #failures = 0;

  /**
   * Creates a counter. With `random`, each delay is extended by up to its own length, as in client-go's
   * reflector, so that many clients do not retry at the same moment.
   */
  constructor(options: BackoffOptions, random?: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Counts a failure and returns the delay in milliseconds. */
  next(): number {
    const delay = backoffMs(this.#options, ++this.#failures);
    return delay * (1 + (this.#random?.next() ?? 0));
  }

  reset(): void {
    this.#failures = 0;
  }
}
