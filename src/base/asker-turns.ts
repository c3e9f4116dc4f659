/**
 * Work that is done one piece after the other for several askers. Askers take turns: however much one asks for, another one's next
 * piece waits for one piece of each other asker at most.
 */
export class AskerTurns {
  /** By asker: the pieces that wait. The first asker has the next turn, and goes to the end then. */
  readonly #lines = new Map<string, (() => Promise<void>)[]>();
  #isBusy = false;

  /** Settles as the work does. */
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
