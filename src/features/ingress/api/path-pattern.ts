/**
 * Regular expressions for paths that a web server may run for users: nginx tries alternatives one after the
 * other, so that a pattern such as `(a+)+$` occupies a worker for seconds. Pure.
 */

/**
 * Limit for repetitions without a maximum: with each, matching takes time of a higher power of the length.
 */
const maxRepetitions = 3;
const maxLength = 512;
const maxCount = 100;

/** Returns why the pattern is rejected, as a sentence without its subject; undefined if it is allowed. */
export function patternProblem(pattern: string): string | undefined {
  return pattern.startsWith('/') ? expressionProblem(pattern) : "must begin with '/'";
}

/** Returns why an expression for any text, not only for a path, is rejected; undefined if it is allowed. */
export function expressionProblem(pattern: string): string | undefined {
  if (pattern.length > maxLength) return `must have no more than ${maxLength} characters`;
  return new PatternReader(pattern).problem();
}

/** Returns the number of capturing groups of an allowed pattern. */
export const groupsOf = (pattern: string): number =>
  (
    pattern
      .replace(/\\./g, '')
      .replace(/\[[^\]]*\]/g, '')
      .match(/\((?!\?)/g) ?? []
  ).length;

const escapes = /^\\[dDwWsSbB.\\/+*?()[\]{}|^$-]/;
const characterClass = /^\[\^?(?:[A-Za-z0-9._~!'()*+,;=:@&%/^|?-]|\\[dDwWsS.\\/\]^-])+\]/;
const plain = /^[A-Za-z0-9._~!',;=:@&%/^$ -]/;
const repetition = /^(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??/;

class PatternReader {
  readonly #pattern: string;
  #at = 0;
  #repetitions = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  problem(): string | undefined {
    const why = this.#alternatives(0);
    if (why) return why;
    if (this.#at < this.#pattern.length) return "has a ')' without '('";
    return this.#repetitions > maxRepetitions
      ? `must have no more than ${maxRepetitions} repetitions without a maximum ('*', '+', '{n,}')`
      : undefined;
  }

  /** Reads to the end of a group. */
  #alternatives(depth: number): string | undefined {
    while (this.#at < this.#pattern.length && this.#rest[0] !== ')') {
      if (this.#rest[0] === '|') {
        this.#at++;
        continue;
      }
      const why = this.#piece(depth);
      if (why) return why;
    }
    return undefined;
  }

  #piece(depth: number): string | undefined {
    if (this.#rest[0] === '(') return this.#group(depth);
    const [atom] =
      escapes.exec(this.#rest) ?? characterClass.exec(this.#rest) ?? plain.exec(this.#rest) ?? [];
    if (atom === undefined)
      return `has a part that is not allowed at position ${this.#at}: ${JSON.stringify(this.#rest[0])}`;
    this.#at += atom.length;
    return this.#repeat(false);
  }

  #group(depth: number): string | undefined {
    if (depth >= 4) return 'must have no more than 4 groups inside of each other';
    this.#at += this.#rest.startsWith('(?:') ? 3 : 1;
    const why = this.#alternatives(depth + 1);
    if (why) return why;
    if (this.#rest[0] !== ')') return "has a '(' without ')'";
    this.#at++;
    return this.#repeat(true);
  }

  #repeat(isGroup: boolean): string | undefined {
    const [text] = repetition.exec(this.#rest) ?? [];
    if (text === undefined) return undefined;
    this.#at += text.length;
    if (repetition.test(this.#rest)) return 'must not repeat a repetition';
    if (isGroup && !text.startsWith('?')) return "must not repeat a group, except with '?'";
    const counts = [...text.matchAll(/\d+/g)].map(([count]) => Number(count));
    if (counts.some((count) => count > maxCount)) return `must not repeat more than ${maxCount} times`;
    if (/^[*+]|,\}/.test(text)) this.#repetitions++;
    return undefined;
  }

  get #rest(): string {
    return this.#pattern.slice(this.#at);
  }
}
