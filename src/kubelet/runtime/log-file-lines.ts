/**
 * The content of a file of the engine's log driver json-file: a JSON object a line, with `log`, `stream` and
 * `time` (docs.docker.com/engine/logging/drivers/json-file). Pure.
 */
import { LineStarts } from './line-starts.ts';
import { PlainEntries, timeBytes } from './plain-entries.ts';

export interface PrintOptions {
  /** Prints the time of each line before it. */
  readonly timestamps: boolean;
  /**
   * Leaves out older entries: whole milliseconds since the epoch, as in the engine's API. Undefined: leaves
   * out nothing.
   */
  readonly since: number | undefined;
}

interface Entry {
  readonly log: string;
  readonly stream: string;
  readonly time: string;
}

const lineEnd = 0x0a;
/**
 * Maximum length of a line, more than the engine writes: 16 KiB of output with at most six bytes for each
 * byte.
 */
const maxLineBytes = 1024 * 1024;

/** Converts the bytes of log files, one file after the other, to the container's output. */
export class LogFilePrinter {
  readonly #options: PrintOptions;
  /** Earliest time that is printed, up to its milliseconds. */
  readonly #since: Uint8Array | undefined;
  readonly #starts = new LineStarts();
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: PrintOptions) {
    this.#options = options;
    this.#since = options.since === undefined ? undefined : millisecond(options.since);
  }

  /** Returns the output of the complete lines. The beginning of a line is kept until its end arrives. */
  print(bytes: Uint8Array): Buffer {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bufferOf(bytes);
    const end =
      all.length > maxLineBytes && !all.includes(lineEnd) ? all.length : all.lastIndexOf(lineEnd) + 1;
    this.#rest = Buffer.from(all.subarray(end));
    return end === 0 ? Buffer.alloc(0) : this.#printLines(all.subarray(0, end));
  }

  /** Converts entries of the usual form together, and others one by one. */
  #printLines(lines: Buffer): Buffer {
    const parts: Buffer[] = [];
    const target = Buffer.allocUnsafeSlow(lines.length);
    const plain = new PlainEntries(lines, target);
    let printed = 0;
    let at = 0;
    for (let from = 0; from < lines.length; ) {
      const end = this.#printPlain(plain, from, target, at);
      if (end >= 0) {
        at = end;
        from = plain.next;
        continue;
      }
      const lineEndAt = lines.indexOf(lineEnd, from);
      const to = lineEndAt < 0 ? lines.length : lineEndAt;
      parts.push(
        target.subarray(printed, at),
        Buffer.from(this.#printLine(lines.toString('utf8', from, to))),
      );
      printed = at;
      from = to + 1;
    }
    const last = target.subarray(printed, at);
    return parts.length === 0 ? last : Buffer.concat([...parts, last]);
  }

  /** Returns where the output of an entry ends; -1 if the entry does not have the usual form. */
  #printPlain(plain: PlainEntries, from: number, target: Buffer, at: number): number {
    const { timestamps, since } = this.#options;
    if (since !== undefined && !this.#since) return -1;
    const room = timestamps ? timeBytes : 0;
    const end = plain.read(from, at + room);
    if (end < 0) return -1;
    const begins = this.#starts.begins(plain.stream, target[end - 1] === lineEnd && end > at + room);
    if (this.#since && isBefore(plain.time, this.#since)) return at;
    if (!timestamps) return end;
    if (begins) {
      target.set(plain.time, at);
      return end;
    }
    target.copyWithin(at, at + room, end);
    return end - room;
  }

  /**
   * Drops the beginning of a line whose end was never written because the engine was killed while writing.
   */
  nextFile(): void {
    this.#rest = Buffer.alloc(0);
  }

  #printLine(line: string): string {
    const entry = readEntry(line);
    // A broken line, for example after a power failure, is shown unchanged.
    if (!entry) return `${line}\n`;
    const { log, stream, time } = entry;
    const begins = this.#starts.begins(stream, log.endsWith('\n'));
    const { since, timestamps } = this.#options;
    if (since !== undefined && Date.parse(time) < since) return '';
    return timestamps && begins ? `${fixedTime(time)} ${log}` : log;
  }
}

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns a time up to its milliseconds as entries have it; undefined for one before 1970 or after 9999. */
function millisecond(time: number): Uint8Array | undefined {
  if (!(time >= 0 && time < 253_402_300_800_000)) return undefined;
  return Buffer.from(new Date(time).toISOString().slice(0, -1));
}

function isBefore(time: Uint8Array, since: Uint8Array): boolean {
  for (let i = 0; i < since.length; i++) {
    const difference = (time[i] ?? 0) - (since[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function readEntry(line: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return undefined;
    const { log, stream, time } = entry as Partial<Record<keyof Entry, unknown>>;
    if (typeof time !== 'string') return undefined;
    // The engine leaves out empty fields.
    return { log: String(log ?? ''), stream: String(stream ?? ''), time };
  } catch {
    return undefined;
  }
}

/**
 * Returns the time with nine digits of its second, as in the engine's API; the files leave out trailing
 * zeros.
 */
const fixedTime = (time: string) =>
  time.replace(/(?:\.(\d+))?Z$/, (_, fraction: string = '') => `.${fraction.padEnd(9, '0')}Z`);
