/** Delays that grow while something keeps failing. */
import type { Random } from './random.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Default 2. */
  readonly factor?: number;
}

/** Milliseconds to wait after so many failures in a row: `initialMs` after the first, 0 when there was none. */
export function backoffMs({ initialMs, maxMs, factor = 2 }: BackoffOptions, failures: number): number {
  return failures < 1 ? 0 : Math.min(maxMs, initialMs * factor ** (failures - 1));
}

/** Counts the failures of one thing. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random | undefined;
  #failures = 0;

  /**
   * With `random` each delay is lengthened by up to itself, as client-go's reflector has it: so that many clients do not come
   * back at once.
   */
  constructor(options: BackoffOptions, random?: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    const delay = backoffMs(this.#options, ++this.#failures);
    return delay * (1 + (this.#random?.next() ?? 0));
  }

  reset(): void {
    this.#failures = 0;
  }
}
