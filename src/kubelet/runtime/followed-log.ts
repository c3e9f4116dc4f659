/**
 * A log that is followed, with each entry exactly once. Docker before 23 reads a file of the log a second
 * time when it is rotated while it is followed, so that hundreds of lines are repeated. Each entry has the
 * time at which the engine got it, to the nanosecond: repeated entries have the same times as before, in the
 * same order.
 */
import { endsLine, type LogEntry } from './log-entries.ts';

/**
 * Yields the entries without the repeated ones. Each output is judged separately: pieces of two long lines
 * alternate between two times.
 */
export async function* eachOnce(entries: AsyncIterable<LogEntry>): AsyncIterable<LogEntry> {
  const seen = new Map<string, SeenEntries>();
  const times = new EntryTimes();
  for await (const entry of entries) {
    const time = times.of(entry);
    const ofOutput = seen.get(entry.output) ?? new SeenEntries();
    seen.set(entry.output, ofOutput);
    // An entry without a time cannot be distinguished from others.
    if (time === undefined || !ofOutput.repeats(time, entry)) yield entry;
  }
}

/** Reads the times of entries, as nanoseconds since the second of the first one. */
class EntryTimes {
  #first: number | undefined;
  /** The second that was parsed last: many lines share one second. */
  #second = '';
  #secondMs = 0;

  of({ head }: LogEntry): number | undefined {
    if (head === undefined) return undefined;
    const [second = '', fraction = ''] = head.split('.');
    if (second !== this.#second) {
      this.#second = second;
      this.#secondMs = Date.parse(`${second}Z`);
    }
    this.#first ??= this.#secondMs;
    return (this.#secondMs - this.#first) * 1e6 + Number.parseInt(fraction, 10);
  }
}

/** Maximum number of times that are remembered: as many as a file of 17 MiB has with the shortest lines. */
const maxTimes = 2 ** 18;
/** Nanoseconds by which the entries of the two outputs may be out of order. */
const disorder = 1e8;

class SeenEntries {
  readonly #times: number[] = [];
  #last: LogEntry | undefined;
  /** Index in `#times` of the next expected entry while entries are repeated. */
  #again: number | undefined;

  /** Returns true when the entry was there before. */
  repeats(time: number, entry: LogEntry): boolean {
    this.#again = this.#goOn(time) ?? this.#beginAgain(time, entry);
    if (this.#again !== undefined) return true;
    this.#times.push(time);
    this.#last = entry;
    if (this.#times.length > 2 * maxTimes) this.#times.splice(0, maxTimes);
    return false;
  }

  /**
   * Returns the next index when the repetition continues. A file may begin in the middle of a long line, all
   * of whose pieces have one time.
   */
  #goOn(time: number): number | undefined {
    if (this.#again === undefined) return undefined;
    let at = this.#again;
    while (this.#times[at] !== time && this.#times[at] === this.#times[at - 1]) at++;
    return this.#times[at] === time ? at + 1 : undefined;
  }

  #beginAgain(time: number, entry: LogEntry): number | undefined {
    const last = this.#times.at(-1);
    if (last === undefined || time > last) return undefined;
    // All pieces of a long line have one time; once the line has ended, they can only be repeated.
    if (time === last && !(this.#last && mayRepeat(this.#last, entry))) return undefined;
    const found = this.#firstOf(time);
    return found === undefined ? undefined : found + 1;
  }

  /** Returns the first of the last entries with that time; earlier groups with the same time do not count. */
  #firstOf(time: number): number | undefined {
    let found: number | undefined;
    for (let at = this.#times.length - 1; (this.#times[at] ?? -Infinity) >= time - disorder; at--) {
      if (this.#times[at] === time) found = at;
      else if (found !== undefined) break;
    }
    return found;
  }
}

const mayRepeat = (last: LogEntry, entry: LogEntry) =>
  endsLine(last) && (!endsLine(entry) || last.text.equals(entry.text));
