/** The output of a program, up to a maximum. Pure. */
import { tooLarge } from './copy-words.ts';

export class CollectedBytes {
  readonly parts: Uint8Array<ArrayBuffer>[] = [];
  size = 0;
  readonly #what: string;
  readonly #max: number;

  /** `what` names the output in the error. */
  constructor(what: string, max: number) {
    this.#what = what;
    this.#max = max;
  }

  /** Keeps a copy of the bytes. Throws an Error if all bytes together exceed the maximum. */
  take(bytes: Uint8Array): void {
    this.size += bytes.length;
    if (this.size > this.#max) throw new Error(tooLarge(this.#what, this.#max));
    this.parts.push(new Uint8Array(bytes));
  }
}
