/**
 * The content of a file of the engine's log driver json-file: a JSON object a line, with `log`, `stream` and
 * `time` (docs.docker.com/engine/logging/drivers/json-file). Pure.
 */
import { LineStarts } from './line-starts.ts';

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
  readonly #starts = new LineStarts();
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: PrintOptions) {
    this.#options = options;
  }

  /** Returns the output of the complete lines. The beginning of a line is kept until its end arrives. */
  print(bytes: Uint8Array): Buffer {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : Buffer.from(bytes);
    const end =
      all.length > maxLineBytes && !all.includes(lineEnd) ? all.length : all.lastIndexOf(lineEnd) + 1;
    this.#rest = Buffer.from(all.subarray(end));
    if (end === 0) return Buffer.alloc(0);
    const lines = all.toString('utf8', 0, end).split('\n');
    if (lines.at(-1) === '') lines.pop();
    return Buffer.from(lines.map((line) => this.#printLine(line)).join(''));
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
