/** Delays that grow while something keeps failing, spread out so that many clients do not come back at once. */
import type { Random } from '../base/random.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Default 2. */
  readonly factor?: number;
  /** Each delay is lengthened by up to this part of itself; default 1, as client-go's reflector has it. */
  readonly jitter?: number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  #failures = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    const { initialMs, maxMs, factor = 2, jitter = 1 } = this.#options;
    const delay = Math.min(maxMs, initialMs * factor ** this.#failures++);
    return delay * (1 + this.#random.next() * jitter);
  }

  reset(): void {
    this.#failures = 0;
  }
}
