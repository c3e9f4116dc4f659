/**
 * Serial execution of work for several clients, which take turns: however much work a client submits, the
 * next piece of another client waits for at most one piece of each other client.
 */
export class AskerTurns {
  /** Waiting pieces by client. The first client has the next turn and then moves to the end. */
  readonly #lines = new Map<string, (() => Promise<void>)[]>();
  #isBusy = false;

  /** Queues work for a client; settles as the work does. */
  inTurn<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#lines.getOrInsertComputed(asker, () => []).push(() => work().then(resolve, reject));
    void this.#takeTurns();
    return promise;
  }

  async #takeTurns(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let turn = this.#next(); turn; turn = this.#next()) await turn();
    this.#isBusy = false;
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#lines;
    if (!first) return undefined;
    const [asker, line] = first;
    const turn = line.shift();
    this.#lines.delete(asker);
    if (line.length > 0) this.#lines.set(asker, line);
    return turn;
  }
}
