/** A part of a manifest of which nothing gets lost unseen: what nobody takes is told. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

/**
 * Takes a note of what is left out, added or read in another way. Two kinds of notes tell nothing of the
 * system that a manifest is for: of a field of which nothing is known, such as a mistyped one, and of what
 * manifests of Kubernetes have too.
 */
export type Say = (note: string, about?: 'unknown' | 'usual') => void;

export class Fields {
  readonly #record: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();
  readonly #parts: Fields[] = [];
  readonly #say: Say;

  constructor(record: JsonObject, path: string, say: Say) {
    this.#record = record;
    this.#path = path;
    this.#say = say;
  }

  has(name: string): boolean {
    return this.#record[name] !== undefined && this.#record[name] !== null;
  }

  /** The value of the first of these fields that is there; undefined when none is. */
  take(...names: readonly string[]): unknown {
    const name = names.find((one) => this.has(one));
    if (name === undefined) return undefined;
    this.#taken.add(name);
    return this.#record[name];
  }

  /**
   * The text or number of the first of these fields, as text; undefined when none is there. Throws for
   * another value, such as what YAML makes of the word `y`.
   */
  text(...names: readonly string[]): string | undefined {
    const value = this.take(...names);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    const name = names.find((one) => this.has(one));
    const got = typeof value === 'boolean' ? `${value}; put the word in quotes` : 'a list or a mapping';
    throw new Error(`${this.#path}${name}: expected text, got ${got}`);
  }

  /** The fields below the first of these; none when it is not there or no object. */
  part(...names: readonly string[]): Fields {
    const name = names.find((one) => this.has(one)) ?? names[0] ?? '';
    const value = this.#record[name];
    if (isRecord(value)) this.#taken.add(name);
    const part = new Fields(isRecord(value) ? value : {}, `${this.#path}${name}.`, this.#say);
    this.#parts.push(part);
    return part;
  }

  /**
   * The items of the list in the first of these fields, none when it is not there; what is no object is told.
   * Throws for no list.
   */
  items(...names: readonly string[]): Fields[] {
    const name = names.find((one) => this.has(one));
    const list = name === undefined ? [] : this.take(name);
    if (!Array.isArray(list)) throw new Error(`${this.#path}${name}: expected a list`);
    return list.flatMap((item, index) => {
      const path = `${this.#path}${name}[${index}]`;
      if (!isRecord(item)) {
        this.#say(`${path}: left out: expected a mapping of fields`);
        return [];
      }
      const part = new Fields(item, `${path}.`, this.#say);
      this.#parts.push(part);
      return [part];
    });
  }

  /** All that nobody has taken, as it is. */
  others(): JsonObject {
    const rest = Object.entries(this.#record).filter(([name]) => !this.#taken.has(name));
    for (const [name] of rest) this.#taken.add(name);
    return Object.fromEntries(rest);
  }

  say(name: string, note: string, about?: 'unknown' | 'usual'): void {
    this.#say(`${this.#path}${name}: ${note}`, about);
  }

  /** Takes a field for which there is nothing here, and says why. */
  drop(name: string, why: string, about?: 'usual'): void {
    if (this.take(name) !== undefined) this.say(name, `left out: ${why}`, about);
  }

  /** Tells of every field that nobody took. */
  end(): void {
    for (const [name, value] of Object.entries(this.#record))
      if (!this.#taken.has(name) && value !== null)
        this.say(name, 'left out: its meaning is not known', 'unknown');
    for (const part of this.#parts) part.end();
  }
}
