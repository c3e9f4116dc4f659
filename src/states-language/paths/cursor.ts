/** Reading a text from left to right, for paths and intrinsic functions. */

/** Says at which character (from 1) the text is not what was expected there. */
export class SyntaxProblem extends Error {}

export class Cursor {
  readonly text: string;
  at = 0;
  /** How deep what is being read lies in brackets. */
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

  /** Goes past the token if it is what comes next. */
  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) this.fail(`expected ${token}`);
  }

  /** What the pattern (sticky) matches here; empty when nothing. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found = ''] = pattern.exec(this.text) ?? [];
    this.at += found.length;
    return found;
  }

  /** Reads what lies one level deeper; refuses what is nested too deeply to be read safely. */
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
