/** The output of a role of the built file over all its starts, with detection of unexpected lines. */
import type { Readable } from 'node:stream';

/**
 * A log line: `2026-01-02T03:04:05.678Z INFO kubelet: …` or, with `--log-format json`, an object with such a
 * time.
 */
const logLine = /^(?:\{"ts":")?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?: (?:ERROR|WARN |INFO |DEBUG) |",)/;
/** Messages for the user who started the role. */
const said =
  /^(?:minik8s is ready: |waiting for approval: |node \S+ was (?:deleted|let in)|warning: |error: )/;
/** Output of a program that printed a missing value. */
const valueless = /(?:^|[\s=:"'(])(?:undefined|NaN|\[object Object\])(?:$|[\s,;:"')])/;

/**
 * Returns the lines that are not log lines, such as those of a bare stack or a warning of Node, or that have
 * a missing value.
 */
export function strangeLines(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && (!(logLine.test(line) || said.test(line)) || valueless.test(line)));
}

export class RoleLog {
  readonly #what: string;
  #text = '';
  #strange: string[] = [];

  /** `what` names the role in the error of `requireLogLines`. */
  constructor(what: string) {
    this.#what = what;
  }

  /** All output so far, the two streams of each process line by line. */
  get text(): string {
    return this.#text;
  }

  take(output: Readable): void {
    let rest = '';
    output.setEncoding('utf8');
    output.on('data', (chunk: string) => {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) this.#add(rest + chunk.slice(0, end));
      rest = end > 0 ? chunk.slice(end) : rest + chunk;
    });
    // A killed process may leave half a line.
    output.once('close', () => {
      this.#text += rest;
      rest = '';
    });
  }

  /** Throws an Error with the first strange lines; each line is reported once. */
  requireLogLines(): void {
    const strange = this.#strange;
    this.#strange = [];
    if (strange.length === 0) return;
    const shown = strange.slice(0, 20).join('\n');
    throw new Error(`${this.#what} wrote ${strange.length} lines that are no log lines:\n${shown}`);
  }

  #add(lines: string): void {
    this.#text += lines;
    this.#strange.push(...strangeLines(lines));
  }
}
