/**
 * JSON parsing that also reports what JSON.parse does not: duplicate keys in an object, and the position
 * where a text stops being JSON. JSON.parse does the work; the parser here runs only to locate a fault that
 * is known to exist.
 */
import { maxDepth, maxValues, measureJson, TextError, tooDeep } from './value-limit.ts';

export interface ParsedText {
  readonly value: unknown;
  /** Paths of keys that stand more than once, such as `spec.replicas`; the last value counts. */
  readonly duplicates: readonly string[];
  /** The same keys of a YAML text in the words of Go's decoder: `line 9: key "a" already set in map`. */
  readonly repeats?: readonly string[];
}

/** Maximum of reported duplicates, as upstream (sigs.k8s.io/json saveStrictError). */
const maxDuplicates = 100;
/** Maximum characters of a key in a reported path. */
const maxKeyShown = 256;

/**
 * Parses a JSON text. Throws TextError for invalid JSON, and a 413 for more than `most` values. With
 * `findDuplicates` false, the list of duplicates is empty.
 */
export function parseJson(text: string, findDuplicates: boolean, most = maxValues): ParsedText {
  const { keys } = measureJson(text, most);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    new Scanner(text).document();
    throw new TextError(`invalid JSON: ${String(error)}`);
  }
  if (!findDuplicates || keys === countProperties(value)) return { value, duplicates: [] };
  const scanner = new Scanner(text);
  scanner.document();
  return { value, duplicates: [...scanner.duplicates] };
}

/** Returns the number of properties of all objects in a value. */
function countProperties(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  let count = Array.isArray(value) ? 0 : inner.length;
  for (const item of inner) count += countProperties(item);
  return count;
}

/**
 * Returns the index of the quote that closes the string opened at `start`; -1 if the string is not closed.
 */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Walks a JSON text without building values. */
class Scanner {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value('', 0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail('the end of the text');
  }

  #value(path: string, depth: number): void {
    if (depth > maxDepth) throw tooDeep();
    this.#space();
    switch (this.#text[this.#at]) {
      case '{':
        this.#object(path, depth);
        break;
      case '[':
        this.#array(path, depth);
        break;
      case '"':
        this.#string();
        break;
      default:
        this.#literal();
    }
  }

  #object(path: string, depth: number): void {
    this.#at++;
    const seen = new Set<string>();
    this.#space();
    if (this.#take('}')) return;
    do {
      this.#space();
      const inner = this.#key(path, seen);
      this.#space();
      if (!this.#take(':')) this.#fail("':'");
      this.#value(inner, depth + 1);
      this.#space();
    } while (this.#take(','));
    if (!this.#take('}')) this.#fail("',' or '}'");
  }

  /** Reads the key of a field, reports it if the object has it already, and returns the field's path. */
  #key(path: string, seen: Set<string>): string {
    if (this.#text[this.#at] !== '"') this.#fail('a key in double quotes');
    const key = this.#string();
    const shown = key.length > maxKeyShown ? `${key.slice(0, maxKeyShown)}…` : key;
    const inner = path ? `${path}.${shown}` : shown;
    if (seen.has(key) && this.duplicates.size < maxDuplicates) this.duplicates.add(inner);
    seen.add(key);
    return inner;
  }

  #array(path: string, depth: number): void {
    this.#at++;
    this.#space();
    if (this.#take(']')) return;
    let index = 0;
    do {
      this.#value(`${path}[${index++}]`, depth + 1);
      this.#space();
    } while (this.#take(','));
    if (!this.#take(']')) this.#fail("',' or ']'");
  }

  #string(): string {
    const start = this.#at;
    const end = endOfString(this.#text, start);
    if (end < 0) {
      this.#at = this.#text.length;
      this.#fail('a closing double quote');
    }
    try {
      const value: unknown = JSON.parse(this.#text.slice(start, end + 1));
      this.#at = end + 1;
      return String(value);
    } catch {
      return this.#fail('a string without raw control characters or unknown escapes');
    }
  }

  #literal(): void {
    const pattern = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) this.#fail('a value');
    else this.#at += found[0].length;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #fail(expected: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - before.lastIndexOf('\n');
    const found = this.#at < this.#text.length ? JSON.stringify(this.#text[this.#at]) : 'the end of the text';
    throw new TextError(
      `invalid JSON at line ${line}, column ${column}: expected ${expected}, found ${found}`,
    );
  }
}
