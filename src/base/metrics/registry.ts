/** What one page of metrics holds: what is counted as it happens, and what is looked up when the page is read. */
import { type Family, familyLines } from '../exposition.ts';
import type { Collected } from './instruments.ts';

/** Characters of a piece: what is made in one go while others wait. */
const pieceLength = 32 * 1024;

export class Registry {
  readonly #collected: Collected[] = [];

  /** Shows it on the page, after what was added before. */
  add<C extends Collected>(collected: C): C {
    this.#collected.push(collected);
    return collected;
  }

  /** Asked for each time the page is read. */
  collect(families: () => Iterable<Family>): void {
    this.#collected.push({
      *texts() {
        for (const family of families()) for (const line of familyLines(family)) yield `${line}\n`;
      },
    });
  }

  /** The page in pieces, each made when it is asked for. */
  *pieces(): Generator<string> {
    let piece: string[] = [];
    let length = 0;
    for (const collected of this.#collected) {
      for (const text of collected.texts()) {
        piece.push(text);
        length += text.length;
        if (length < pieceLength) continue;
        yield piece.join('');
        piece = [];
        length = 0;
      }
    }
    if (length > 0) yield piece.join('');
  }
}
