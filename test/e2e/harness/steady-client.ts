/** A client that sends one request after the other, and counts how they end. */

export interface Tally {
  readonly answered: number;
  readonly failures: readonly string[];
  /** Longest time of an answered request in milliseconds. */
  readonly slowestMs: number;
}

export class SteadyClient {
  readonly #send: () => Promise<unknown>;
  readonly #failures: string[] = [];
  #answered = 0;
  #slowestMs = 0;
  #isStopped = false;
  readonly #running: Promise<void>;

  /** `send` must reject for a request that failed. `pauseMs` is the time between two requests. */
  constructor(send: () => Promise<unknown>, pauseMs = 5) {
    this.#send = send;
    this.#running = this.#run(pauseMs);
  }

  get answered(): number {
    return this.#answered;
  }

  /** Resolves when the last request has ended. */
  async stop(): Promise<Tally> {
    this.#isStopped = true;
    await this.#running;
    return { answered: this.#answered, failures: this.#failures, slowestMs: Math.round(this.#slowestMs) };
  }

  async #run(pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      const start = performance.now();
      try {
        await this.#send();
        this.#answered++;
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - start);
      } catch (error) {
        this.#failures.push(`${new Date().toISOString()} ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
