/** A part of a manifest in which no field is lost silently: fields that are not taken are reported. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

/**
 * Reports a field that is left out, added or read differently. Two types of reports do not identify the
 * system of a manifest: `unknown`, for a field without a known meaning, such as a mistyped one, and `usual`,
 * for a field that manifests of Kubernetes have too.
 */
export type AddNote = (note: string, about?: 'unknown' | 'usual') => void;

export class Fields {
  readonly #record: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();
  readonly #parts: Fields[] = [];
  readonly #addNote: AddNote;

  constructor(record: JsonObject, path: string, note: AddNote) {
    this.#record = record;
    this.#path = path;
    this.#addNote = note;
  }

  has(name: string): boolean {
    return this.#record[name] !== undefined && this.#record[name] !== null;
  }

  /** Returns the value of the first of these fields that exists; undefined if none does. */
  take(...names: readonly string[]): unknown {
    const name = names.find((one) => this.has(one));
    if (name === undefined) return undefined;
    this.#taken.add(name);
    return this.#record[name];
  }

  /**
   * Returns the text or number of the first of these fields that exists, as text; undefined if none does.
   * Throws for another value, such as the boolean that YAML makes of the word `y`.
   */
  text(...names: readonly string[]): string | undefined {
    const value = this.take(...names);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    const name = names.find((one) => this.has(one));
    const got = typeof value === 'boolean' ? `${value}; put the word in quotes` : 'a list or a mapping';
    throw new Error(`${this.#path}${name}: expected text, got ${got}`);
  }

  /**
   * Returns the fields below the first of these fields that exists; no fields if there is none or it is not
   * an object.
   */
  part(...names: readonly string[]): Fields {
    const name = names.find((one) => this.has(one)) ?? names[0] ?? '';
    const value = this.#record[name];
    if (isRecord(value)) this.#taken.add(name);
    const part = new Fields(isRecord(value) ? value : {}, `${this.#path}${name}.`, this.#addNote);
    this.#parts.push(part);
    return part;
  }

  /**
   * Returns the items of the list in the first of these fields that exists, or no items if there is none;
   * items that are not objects are reported. Throws if the value is not a list.
   */
  items(...names: readonly string[]): Fields[] {
    const name = names.find((one) => this.has(one));
    const list = name === undefined ? [] : this.take(name);
    if (!Array.isArray(list)) throw new Error(`${this.#path}${name}: expected a list`);
    return list.flatMap((item, index) => {
      const path = `${this.#path}${name}[${index}]`;
      if (!isRecord(item)) {
        this.#addNote(`${path}: left out: expected a mapping of fields`);
        return [];
      }
      const part = new Fields(item, `${path}.`, this.#addNote);
      this.#parts.push(part);
      return [part];
    });
  }

  /** Takes all remaining fields and returns them unchanged. */
  others(): JsonObject {
    const rest = Object.entries(this.#record).filter(([name]) => !this.#taken.has(name));
    for (const [name] of rest) this.#taken.add(name);
    return Object.fromEntries(rest);
  }

  note(name: string, note: string, about?: 'unknown' | 'usual'): void {
    this.#addNote(`${this.#path}${name}: ${note}`, about);
  }

  /** Takes a field without an equivalent, and reports the reason. */
  drop(name: string, why: string, about?: 'usual'): void {
    if (this.take(name) !== undefined) this.note(name, `left out: ${why}`, about);
  }

  /** Reports every field that was not taken. */
  end(): void {
    for (const [name, value] of Object.entries(this.#record))
      if (!this.#taken.has(name) && value !== null)
        this.note(name, 'left out: its meaning is not known', 'unknown');
    for (const part of this.#parts) part.end();
  }
}
