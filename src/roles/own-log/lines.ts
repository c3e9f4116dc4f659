/** Cuts bytes into lines. Pure. */

/** Maximum length of a line in bytes; a longer one is passed on in pieces. */
const maxLineBytes = 2 ** 20;

export class Lines {
  #rest: Uint8Array = Buffer.alloc(0);

  /** Returns the lines that these bytes complete, without line ends. */
  add(bytes: Uint8Array): string[] {
    const all = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    this.#rest = all.subarray(end);
    const lines = end === 0 ? [] : all.toString('utf8', 0, end - 1).split('\n');
    return this.#rest.length > maxLineBytes ? [...lines, ...this.end()] : lines;
  }

  /** Returns the last line if it has no end yet. */
  end(): string[] {
    const rest = Buffer.from(this.#rest).toString();
    this.#rest = Buffer.alloc(0);
    return rest === '' ? [] : [rest];
  }
}
