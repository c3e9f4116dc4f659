/** Entries of a container's log that begin a line. Pure. */

/**
 * Decides before which entries a time is printed. The engine cuts a line of more than 16 KiB into entries
 * that all carry the time; only the last of them ends with the line's end. The two outputs of a container are
 * mixed in its log, so a line continues in the next entry of the same output.
 */
export class LineStarts {
  readonly #open = new Set<string>();

  /** Returns true when an entry begins a line. Must be called once for each entry, in their order. */
  begins(output: string, endsLine: boolean): boolean {
    const begins = !this.#open.has(output);
    if (endsLine) this.#open.delete(output);
    else this.#open.add(output);
    return begins;
  }
}
