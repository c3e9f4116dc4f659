/**
 * Sizes of a client's terminal, parsed from JSON objects `{"Width":80,"Height":24}`. The case of names is
 * ignored, as in Go's JSON decoder: the JavaScript client sends them in lower case.
 */
import type { TerminalSize } from '../../runtime/runtime.ts';

/** Maximum length of a line; longer ones are ignored. */
const maxLineLength = 1024;

/** Yields only the newest size: earlier ones are no longer useful. Supports one reader. */
export class TerminalSizes implements AsyncIterable<TerminalSize> {
  #newest: TerminalSize | undefined;
  #ended = false;
  #wake: (() => void) | undefined;
  #line = '';

  /**
   * Adds text of the client; objects end with a line break or with `flush`. Text that is not a size is
   * ignored.
   */
  push(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = (lines.pop() ?? '').slice(0, maxLineLength);
    for (const line of lines) this.#take(line);
  }

  /** Ends an object: the text so far is complete. */
  flush(): void {
    const line = this.#line;
    this.#line = '';
    this.#take(line);
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TerminalSize> {
    for (;;) {
      const size = this.#newest;
      this.#newest = undefined;
      if (size) yield size;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(line: string): void {
    const size = parseSize(line);
    if (!size) return;
    this.#newest = size;
    this.#wake?.();
  }
}

function parseSize(line: string): TerminalSize | undefined {
  try {
    const fields = Object.entries(JSON.parse(line) as object);
    const { width, height } = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
    return isLength(width) && isLength(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

const isLength = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= 0xffff;
