/**
 * The objects of a list, cut out of the text of the answer while it arrives, so that a list of thousands is
 * never parsed at once. Pure.
 */

const codes = { quote: 34, open: 91, close: 93, begin: 123, end: 125 } as const;

/** Depth of the objects of a list: inside the object of the answer, and inside the array. */
const itemDepth = 2;

export class ListPieces {
  readonly #member: RegExp;
  /** Text before the array of objects, with its opening bracket. */
  #head = '';
  #where: 'before' | 'inside' | 'behind' = 'before';
  /** Text that was not returned yet; inside the array it begins with the object that is not complete. */
  #rest = '';
  /**
   * Position in `#rest` of the next character; one beyond its end if the next text begins with an escaped
   * one.
   */
  #at = 0;
  /** Position of the next backslash, at or after `#at`. */
  #escape = 0;
  #depth = 0;
  #isInString = false;
  #begin = -1;

  /** `member` is the field of the answer with the objects, such as `items`. */
  constructor(member: string) {
    this.#member = new RegExp(`"${member}"\\s*:\\s*$`);
  }

  /** Takes the next text of the answer, and returns the texts of the objects that are complete. */
  push(text: string): readonly string[] {
    this.#rest += text;
    this.#escape = 0;
    const found: string[] = [];
    while (this.#at < this.#rest.length) {
      if (this.#isInString) this.#skipString();
      else this.#take(this.#rest.charCodeAt(this.#at), found);
    }
    if (this.#where === 'inside') this.#cut(this.#begin < 0 ? this.#rest.length : this.#begin);
    return found;
  }

  /** Returns the fields of the answer before its objects, once the first object was found. */
  head(): string {
    return `${this.#head}]}`;
  }

  /** Returns the text of the answer without its objects; it is not JSON if the answer is not complete. */
  end(): string {
    return this.#head + this.#rest;
  }

  /** Moves behind the next backslash and what it escapes, or behind the end of the string. */
  #skipString(): void {
    if (this.#escape < this.#at) {
      const next = this.#rest.indexOf('\\', this.#at);
      this.#escape = next < 0 ? Number.POSITIVE_INFINITY : next;
    }
    const end = this.#rest.indexOf('"', this.#at);
    if (end >= 0 && end < this.#escape) {
      this.#isInString = false;
      this.#at = end + 1;
    } else this.#at = Number.isFinite(this.#escape) ? this.#escape + 2 : this.#rest.length;
  }

  #take(code: number, found: string[]): void {
    if (code === codes.quote) this.#isInString = true;
    else if (code === codes.open || code === codes.begin) this.#enter(code);
    else if (code === codes.close || code === codes.end) this.#leave(found);
    this.#at++;
  }

  #enter(code: number): void {
    this.#depth++;
    if (this.#where === 'inside' && this.#depth === itemDepth + 1) this.#begin = this.#at;
    if (this.#where !== 'before' || code !== codes.open || this.#depth !== itemDepth) return;
    if (!this.#member.test(this.#rest.slice(0, this.#at))) return;
    this.#where = 'inside';
    this.#head = this.#rest.slice(0, this.#at + 1);
  }

  #leave(found: string[]): void {
    this.#depth--;
    if (this.#where !== 'inside') return;
    if (this.#depth === itemDepth) {
      found.push(this.#rest.slice(this.#begin, this.#at + 1));
      this.#begin = -1;
    } else if (this.#depth < itemDepth) {
      this.#where = 'behind';
      this.#cut(this.#at);
    }
  }

  /** Forgets the text before a position. */
  #cut(position: number): void {
    this.#rest = this.#rest.slice(position);
    this.#at -= position;
    this.#escape -= position;
    if (this.#begin >= 0) this.#begin -= position;
  }
}
