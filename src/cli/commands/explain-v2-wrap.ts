/** Wraps descriptions as kubectl's explain does for documents of OpenAPI version 2. Pure. */

/** Matches the beginning of an item of a list. */
const bullet = /^(\d+\.?|-|\*)\s/;

/**
 * Returns lines of at most `limit` bytes, except for longer words. Lines of one paragraph are joined; empty
 * lines, lists, code that is indented by four spaces, and the end of a line after a colon are kept.
 */
export function wrapParagraphs(text: string, limit: number): string[] {
  const paragraph = new Paragraph(limit);
  for (const line of text.split('\n')) {
    if (line.startsWith('    ')) paragraph.keep(line);
    else if (line.trim() === '' && paragraph.lines.length > 0) paragraph.keep('');
    else paragraph.add(line.trim());
  }
  paragraph.end();
  return paragraph.lines;
}

/** The line that is being filled, after the finished lines. */
class Paragraph {
  readonly lines: string[] = [];
  readonly #limit: number;
  #words: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  end(): void {
    if (this.#words.length > 0) this.lines.push(this.#words.join(' '));
    this.#words = [];
  }

  keep(line: string): void {
    this.end();
    this.lines.push(line);
  }

  add(line: string): void {
    if (line === '' || bullet.test(line) || this.#words.at(-1)?.endsWith(':')) this.end();
    for (const word of line.split(/\s+/).filter((one) => one !== '')) {
      const isFull = Buffer.byteLength([...this.#words, word].join(' ')) > this.#limit;
      if (isFull) this.end();
      this.#words.push(word);
    }
  }
}
