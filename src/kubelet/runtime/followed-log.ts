/**
 * A log that is followed, each entry of it once. Docker before 23 reads a file of the log a second time when it is rotated while
 * somebody follows, so that hundreds of lines come twice. Each entry has the time at which the engine got it, to the nanosecond: what comes
 * again is the times that were there before, in the same order.
 */
import { type OutputPiece, outputPieces } from '../../docker/streams.ts';

/** The engine's time and a space, such as `2026-01-02T03:04:05.123456789Z `. */
const headBytes = 31;
const head = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z $/;

/** What the engine takes of a line at a time: the rest of a longer one is another entry with the same time. */
const longestPiece = 16 * 1024;

const lineEnd = 0x0a;

/** `chunks` is what the engine sends of a log with times; `timestamps` says whether to leave them there. */
export async function* eachOnce(
  chunks: AsyncIterable<Uint8Array>,
  { tty, timestamps }: { readonly tty: boolean; readonly timestamps: boolean },
): AsyncIterable<Uint8Array> {
  const seen = new SeenEntries();
  const times = new EntryTimes();
  for await (const entry of tty ? terminalEntries(chunks) : frames(outputPieces(chunks))) {
    const time = times.of(entry);
    // What has no time cannot be told from others.
    if (time === undefined) yield entry;
    else if (!seen.repeats(time, entry)) yield timestamps ? entry : entry.subarray(headBytes);
  }
}

/** Without a terminal an entry is a frame. */
async function* frames(pieces: AsyncIterable<OutputPiece>): AsyncIterable<Buffer> {
  let parts: Uint8Array[] = [];
  for await (const { data, ends } of pieces) {
    parts.push(data);
    if (!ends) continue;
    yield Buffer.concat(parts);
    parts = [];
  }
}

/** With one there are no frames: an entry ends with its line, or where it is as long as it can be. */
async function* terminalEntries(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk);
    for (let end = entryEnd(rest); end !== undefined; end = entryEnd(rest)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) yield rest;
}

const endsLine = (entry: Buffer) => entry.at(-1) === lineEnd;

function entryEnd(bytes: Buffer): number | undefined {
  const longest = headBytes + longestPiece;
  const at = bytes.subarray(0, longest).indexOf(lineEnd);
  if (at >= 0) return at + 1;
  return bytes.length >= longest ? longest : undefined;
}

/** Reads the times of entries, as nanoseconds since the second of the first one. */
class EntryTimes {
  #first: number | undefined;
  /** Lines of one second are many. */
  #second = '';
  #secondMs = 0;

  of(entry: Buffer): number | undefined {
    const [, second = '', nanoseconds] = head.exec(entry.toString('latin1', 0, headBytes)) ?? [];
    if (nanoseconds === undefined) return undefined;
    if (second !== this.#second) {
      this.#second = second;
      this.#secondMs = Date.parse(`${second}Z`);
    }
    this.#first ??= this.#secondMs;
    return (this.#secondMs - this.#first) * 1e6 + Number(nanoseconds);
  }
}

/** Times that are remembered: as many as the shortest lines have in a file of 17 MiB. */
const mostTimes = 2 ** 18;
/** Nanoseconds by which the entries of both outputs may be out of order. */
const disorder = 1e8;

class SeenEntries {
  readonly #times: number[] = [];
  #last: Buffer = Buffer.alloc(0);
  /** Of `#times`, what comes next where entries come again. */
  #again: number | undefined;

  /** Whether it was there before. */
  repeats(time: number, entry: Buffer): boolean {
    this.#again = this.#goOn(time) ?? this.#beginAgain(time, entry);
    if (this.#again !== undefined) return true;
    this.#times.push(time);
    this.#last = entry;
    if (this.#times.length > 2 * mostTimes) this.#times.splice(0, mostTimes);
    return false;
  }

  /** A file may begin in the middle of a long line, of whose pieces all have one time. */
  #goOn(time: number): number | undefined {
    if (this.#again === undefined) return undefined;
    let at = this.#again;
    while (this.#times[at] !== time && this.#times[at] === this.#times[at - 1]) at++;
    return this.#times[at] === time ? at + 1 : undefined;
  }

  #beginAgain(time: number, entry: Buffer): number | undefined {
    const last = this.#times.at(-1);
    if (last === undefined || time > last) return undefined;
    // Of a long line all pieces have one time; once it has ended, they can only come again.
    if (time === last && !(endsLine(this.#last) && (!endsLine(entry) || this.#last.equals(entry))))
      return undefined;
    let found: number | undefined;
    for (let at = this.#times.length - 1; (this.#times[at] ?? -Infinity) >= time - disorder; at--) {
      if (this.#times[at] === time) found = at;
      else if (found !== undefined) break;
    }
    return found === undefined ? undefined : found + 1;
  }
}
