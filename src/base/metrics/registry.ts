/**
 * The content of a metrics page: metrics that are updated as events happen, and values that are collected
 * when the page is read.
 */
import { type Family, familyLines } from './exposition.ts';
import type { Collected } from './instruments.ts';

/** Minimum characters of a piece, which is formatted without yielding to other work. */
const pieceLength = 32 * 1024;

export class Registry {
  readonly #collected: Collected[] = [];

  /** Adds a metric to the page, after those added before. */
  add<C extends Collected>(collected: C): C {
    this.#collected.push(collected);
    return collected;
  }

  /** Adds families that are collected each time the page is read. */
  collect(families: () => Iterable<Family>): void {
    this.#collected.push({
      *texts() {
        for (const family of families()) for (const line of familyLines(family)) yield `${line}\n`;
      },
    });
  }

  /** Yields the page in pieces, each formatted when it is requested. */
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
