/** Reads a text from left to right, for paths and intrinsic functions. */

/** Syntax error; the message names the character (from 1) at which it is. */
export class SyntaxProblem extends Error {}

export class Cursor {
  readonly text: string;
  at = 0;
  /** Current nesting of brackets. */
  depth = 0;
  constructor(text: string) {
    this.text = text;
  }

  get next(): string {
    return this.text[this.at] ?? '';
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  blanks(): void {
    while (this.next === ' ' || this.next === '\t') this.at++;
  }

  /** Skips the token and returns true if it comes next. */
  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) this.fail(`expected ${token}`);
  }

  /** Returns the match of the (sticky) pattern at this position; empty if there is none. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found = ''] = pattern.exec(this.text) ?? [];
    this.at += found.length;
    return found;
  }

  /** Reads one level deeper; fails if the nesting is too deep to be read safely. */
  deeper<T>(most: number, read: () => T): T {
    if (this.depth >= most) this.fail(`more than ${most} levels of nesting`);
    this.depth++;
    const result = read();
    this.depth--;
    return result;
  }

  fail(message: string): never {
    throw new SyntaxProblem(`${message} at character ${this.at + 1}`);
  }
}
