/** A part of a manifest of which nothing gets lost unseen: what nobody takes is told. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';

export class Fields {
  readonly #record: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();
  readonly #parts: Fields[] = [];
  readonly #say: (note: string) => void;

  constructor(record: JsonObject, path: string, say: (note: string) => void) {
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

  text(...names: readonly string[]): string | undefined {
    const value = this.take(...names);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
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

  /** All that nobody has taken, as it is. */
  others(): JsonObject {
    const rest = Object.entries(this.#record).filter(([name]) => !this.#taken.has(name));
    for (const [name] of rest) this.#taken.add(name);
    return Object.fromEntries(rest);
  }

  say(name: string, note: string): void {
    this.#say(`${this.#path}${name}: ${note}`);
  }

  /** Takes a field for which there is nothing here, and says why. */
  drop(name: string, why: string): void {
    if (this.take(name) !== undefined) this.say(name, `left out: ${why}`);
  }

  /** Tells of every field that nobody took. */
  end(): void {
    for (const [name, value] of Object.entries(this.#record))
      if (!this.#taken.has(name) && value !== null) this.say(name, 'left out: its meaning is not known');
    for (const part of this.#parts) part.end();
  }
}
